import Contract
import Foundation
import TestProcesses
import Testing

/// What a request asks for.
struct RequestLine: Sendable {
  let method: String
  let target: String

  /// Reads the first line of what is sent; nil where no request begins.
  init?(_ bytes: [UInt8]) {
    let line = String(decoding: bytes.prefix { $0 != 0x0D && $0 != 0x0A }, as: UTF8.self)
    let parts = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 3, parts[2].hasPrefix("HTTP/"), !parts[0].isEmpty else { return nil }
    (method, target) = (parts[0], parts[1])
  }
}

/// Every answer that a test has seen, by the port that it came from, until the test ends and they are held against
/// `openapi.yaml`, whatever the test itself looked at.
enum SeenAnswers {
  private struct Seen: Sendable {
    let line: RequestLine?
    let answer: HTTPAnswer
  }

  private struct State: Sendable {
    var seen: [UInt16: [Seen]] = [:]
    /// Of servers that are not the service: the document does not speak of them.
    var strange: Set<UInt16> = []
  }

  private static let state = Watched(State())

  /// A service has a port from now on: what came from there before was another server's.
  static func begin(at port: UInt16) {
    state.update {
      $0.strange.remove(port)
      $0.seen[port] = nil
    }
  }

  static func ignore(_ port: UInt16) {
    state.update {
      $0.strange.insert(port)
      $0.seen[port] = nil
    }
  }

  static func add(_ answer: HTTPAnswer, to line: RequestLine?, port: UInt16) {
    state.update { state in
      if !state.strange.contains(port) {
        state.seen[port, default: []].append(Seen(line: line, answer: answer))
      }
    }
  }

  /// Expects that everything which came from a port is described.
  static func expectDescribed(from port: UInt16) throws {
    let document = try APIDocument.shared.get()
    for seen in state.update({ $0.seen.removeValue(forKey: port) }) ?? [] {
      let answer = APIDocument.Answer(
        status: seen.answer.status, headers: seen.answer.headers, body: seen.answer.body)
      let faults = document.faults(answer, to: seen.line?.method, seen.line?.target ?? "")
      let line = seen.line.map { "\($0.method) \($0.target.prefix(100))" } ?? "no request"
      if !faults.isEmpty { Issue.record("not as described: \(line): \(faults) \(seen.answer)") }
    }
  }
}
