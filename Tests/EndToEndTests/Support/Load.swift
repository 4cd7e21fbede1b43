import Foundation
import TestProcesses
import Testing
import Wire

/// What one caller of a load run holds: a person, and the session that was last confirmed to it.
final class Caller: @unchecked Sendable {
  let credential: Credential
  let subject: String
  /// Of the last answer that was 200; nil before the first.
  private(set) var refreshToken: String?
  /// Whether the last request got no answer at all.
  private(set) var isUnanswered = false
  private(set) var localID: String?

  init(credential: Credential, subject: String) {
    self.credential = credential
    self.subject = subject
  }

  /// What it sends next: a sign-in until that is answered, then refreshes.
  var next: HTTPRequest { refreshToken.map { .refresh($0) } ?? .signIn(credential.body()) }

  /// Sends the next request.
  func step(over connection: HTTPConnection) throws(LoadFault) {
    isUnanswered = true
    let answer: HTTPAnswer
    do {
      answer = try connection.exchange(next)
    } catch {
      throw .connection(error)
    }
    isUnanswered = false
    // A stop may refuse; what it refuses it has not done.
    if answer.status == 503 { throw .refused(answer) }
    guard answer.status == 200, let json = try? answer.json,
      let token = json.text("refreshToken") ?? json.text("refresh_token"),
      let id = json.text("localId") ?? json.text("user_id")
    else { throw .wrong(answer) }
    refreshToken = token
    localID = id
    if answer.isLast { throw .connection(.closedBeforeAnswer) }
  }
}

enum LoadFault: Error {
  case connection(HTTPFault)
  case refused(HTTPAnswer)
  case wrong(HTTPAnswer)
}

/// How a load run ended for each of its connections.
struct LoadReport: Sendable {
  var answers = 0
  var broken = 0
  var refused: [HTTPAnswer] = []
  var wrong: [HTTPAnswer] = []
  var timedOut = 0
}

/// Callers over keep-alive connections, each on a thread of its own, until all have had their share of answers
/// or the service is gone.
///
/// - Parameters:
///   - steps: Requests of each caller.
///   - answered: Is told the number of answers after each, on the thread of its connection.
func load(
  _ callers: [Caller], connections: Int, steps: Int, port: UInt16, answered: @escaping @Sendable (Int) -> Void
) async throws -> LoadReport {
  let report = Watched(LoadReport())
  let gate = Gate(connections)
  try await withThrowingTaskGroup(of: Void.self) { group in
    for number in 0..<connections {
      let share = stride(from: number, to: callers.count, by: connections).map { callers[$0] }
      group.addTask {
        try await onThread {
          let connection = Result { try HTTPConnection(port: port) }
          gate.meet()
          let open = try connection.get()
          do throws(LoadFault) {
            // Every other connection serves one caller after the other, so that first and later requests mix.
            let order =
              number.isMultiple(of: 2)
              ? (0..<steps).flatMap { _ in share } : share.flatMap { Array(repeating: $0, count: steps) }
            for caller in order {
              try caller.step(over: open)
              let count = report.update {
                $0.answers += 1
                return $0.answers
              }
              answered(count)
            }
          } catch {
            report.update { report in
              switch error {
              case .connection(.brokenAnswer): report.broken += 1
              case .connection(.timedOut): report.timedOut += 1
              case .connection: break
              case .refused(let answer): report.refused.append(answer)
              case .wrong(let answer): report.wrong.append(answer)
              }
            }
          }
        }
      }
    }
    try await group.waitForAll()
  }
  return report.read { $0 }
}
