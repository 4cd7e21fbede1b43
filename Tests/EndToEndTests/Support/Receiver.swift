import Crypto
import Foundation
import Glibc
import TestProcesses
import Testing
import Wire

extension Delivery {
  var id: String { headers["webhook-id"] ?? "" }
  var json: JSONObject { get throws { try JSONObject(parsing: body) } }
  var type: String? { (try? json)?.text("type") }
  var data: JSONObject? { (try? json)?.object("data") }
  var account: String? { data?.text("localId") }

  /// Whether the signature is that of the secret's bytes.
  func isSigned(with secret: String) -> Bool {
    let signed = Array("\(id).\(headers["webhook-timestamp"] ?? "").".utf8) + body
    return headers["webhook-signature"] == "v1," + base64Text(MACKey(Array(secret.utf8)).code(for: signed))
  }
}

/// An app's back end that is told of accounts: takes what comes, or does not, and remembers it.
final class Receiver: Sendable {
  enum Behaviour: Sendable {
    case answer(Int)
    /// 429, and so many seconds in which nothing is wanted.
    case later(Int)
    /// The connection ends without an answer.
    case close
    /// The connection stays open, and nothing comes.
    case stall
    /// 302 to another of these.
    case redirect(String)
    /// 200, and a body that is too long.
    case flood
    /// What happened to one account is refused, the rest taken.
    case refuse(String)
  }

  private struct State: Sendable {
    var behaviour = Behaviour.answer(204)
    var seen: [Delivery] = []
    var taken: [Delivery] = []
  }

  static let secret = "a secret of tests".replacingOccurrences(of: " ", with: "-")

  private let listener: LoopbackListener
  private let state = Watched(State())

  init(_ behaviour: Behaviour = .answer(204)) throws {
    state.update { $0.behaviour = behaviour }
    let state = state
    listener = try LoopbackListener { connection in
      var received = Deliveries(connection)
      while let delivery = received.next() {
        guard let answer = Self.answer(delivery, state) else { return }
        received.send(answer)
      }
    }
  }

  var port: UInt16 { listener.port }

  /// Settings of a service that tells it.
  var settings: [String: String] {
    [
      "BRAMLEY_WEBHOOK_URL": "http://127.0.0.1:\(port)/hook?from=bramley",
      "BRAMLEY_WEBHOOK_SECRET": Self.secret,
    ]
  }

  func behave(_ behaviour: Behaviour) { state.update { $0.behaviour = behaviour } }

  /// Everything that came, taken or not.
  var seen: [Delivery] { state.read(\.seen) }
  /// What was answered with a 2xx.
  var taken: [Delivery] { state.read(\.taken) }

  /// Waits until so many were taken, and returns them.
  func taken(_ count: Int) async throws -> [Delivery] {
    try await state.first { $0.taken.count >= count ? $0.taken : nil }
  }

  /// Waits until so many have come.
  func seen(_ count: Int) async throws -> [Delivery] {
    try await state.first { $0.seen.count >= count ? $0.seen : nil }
  }

  /// Reads requests of a connection and answers them.
  private static func answer(_ delivery: Delivery, _ state: Watched<State>) -> [UInt8]? {
    let behaviour = state.update { state in
      state.seen.append(delivery)
      switch state.behaviour {
      case .answer(200..<300): state.taken.append(delivery)
      case .refuse(let account) where delivery.account != account: state.taken.append(delivery)
      default: break
      }
      return state.behaviour
    }
    func head(_ status: Int, _ more: String = "") -> [UInt8] {
      Array("HTTP/1.1 \(status) X\r\nContent-Length: 0\r\n\(more)\r\n".utf8)
    }
    switch behaviour {
    case .answer(let status): return head(status)
    case .later(let seconds): return head(429, "Retry-After: \(seconds)\r\n")
    case .close: return nil
    case .stall:
      sleep(15)
      return nil
    case .redirect(let url): return head(302, "Location: \(url)\r\n")
    case .flood:
      let body = [UInt8](repeating: 0x20, count: 100_000)
      return Array("HTTP/1.1 200 X\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body
    case .refuse(let account): return head(delivery.account == account ? 500 : 200)
    }
  }
}

/// Gives a test a back end, and a service that tells it.
func withReceiver(
  _ changes: [String: String] = [:], _ behaviour: Receiver.Behaviour = .answer(204),
  _ body: (Receiver, Stage, Service) async throws -> Void
) async throws {
  let receiver = try Receiver(behaviour)
  try await withStage { stage in
    let settings = Administrator.settings.merging(receiver.settings) { $1 }.merging(changes) { $1 }
    try await body(receiver, stage, try await stage.start(settings))
  }
}
