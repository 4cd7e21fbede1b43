import Crypto
import Foundation
import Glibc
import TestProcesses
import Testing
import Wire

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

  struct Delivery: Sendable {
    let method: String
    let target: String
    /// By their names in lower case.
    let headers: [String: String]
    let body: [UInt8]

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

  private struct State: Sendable {
    var behaviour = Behaviour.answer(204)
    var seen: [Delivery] = []
    var taken: [Delivery] = []
  }

  static let secret = "a secret of tests".replacingOccurrences(of: " ", with: "-")

  let port: UInt16
  private let listener: Int32
  private let state = Watched(State())

  init(_ behaviour: Behaviour = .answer(204)) throws {
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let descriptor = listener
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, length) == 0 && listen(descriptor, 128) == 0
          && getsockname(descriptor, $0, &length) == 0
      }
    }
    guard isBound else { throw SystemFault(call: "bind", code: errno) }
    port = UInt16(bigEndian: address.sin_port)
    state.update { $0.behaviour = behaviour }
    let state = state
    Thread.detachNewThread {
      while true {
        let connection = accept(descriptor, nil, nil)
        guard connection >= 0 else { return }
        Thread.detachNewThread {
          Self.serve(connection, state)
          close(connection)
        }
      }
    }
  }

  deinit {
    shutdown(listener, Int32(SHUT_RDWR))
    close(listener)
  }

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

  private static func serve(_ connection: Int32, _ state: Watched<State>) {
    var received: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    while true {
      if let (delivery, end) = delivery(in: received) {
        received.removeSubrange(..<end)
        guard let answer = answer(delivery, state) else { return }
        _ = answer.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        continue
      }
      let count = recv(connection, &buffer, buffer.count, 0)
      guard count > 0 else { return }
      received += buffer[..<count]
    }
  }

  private static func delivery(in bytes: [UInt8]) -> (Delivery, end: Int)? {
    guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
    let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
    let first = lines[0].split(separator: " ").map(String.init)
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { continue }
      headers[line[..<colon].lowercased()] = line[line.index(after: colon)...].trimmingCharacters(
        in: .whitespaces)
    }
    let length = headers["content-length"].flatMap { Int($0) } ?? 0
    guard bytes.count >= end.upperBound + length else { return nil }
    return (
      Delivery(
        method: first[0], target: first[1], headers: headers,
        body: Array(bytes[end.upperBound..<(end.upperBound + length)])), end.upperBound + length
    )
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
