import Crypto
import Domain
import Foundation
import Glibc
import JOSE
import TestProcesses
import Testing
import Wire

/// A stand-in for Google: it signs ID tokens of a Firebase project and publishes its key, or does not.
final class GoogleDouble: Sendable {
  static let project = "orchard-1"

  enum Behaviour: Sendable {
    case keySet, certificates
    /// 503.
    case down
    case nonsense
  }

  private struct State: Sendable {
    var behaviour: Behaviour
    var requests = 0
  }

  let key: PrivateKey
  let keyID = KeyID(unchecked: "google-1")
  private let listener: LoopbackListener
  private let state: Watched<State>

  init(_ behaviour: Behaviour = .keySet) throws {
    let key = try Self.someKey.get()
    let state = Watched(State(behaviour: behaviour))
    let keySet = KeySet.json(of: [JSONWebKey(keyID: keyID, key: key.publicKey)])
    var certificates = JSONWriter()
    certificates.member(
      keyID.text,
      try key.selfSignedCertificate(
        name: "securetoken", serial: [1], notBefore: UnixTime(1), notAfter: UnixTime(4_000_000_000)))
    let map = certificates.finish()
    self.key = key
    self.state = state
    listener = try LoopbackListener { connection in
      guard isWholeHead(from: connection) else { return }
      let behaviour = state.update { state in
        state.requests += 1
        return state.behaviour
      }
      switch behaviour {
      case .keySet: answer(200, keySet, to: connection)
      case .certificates: answer(200, map, to: connection)
      case .down: answer(503, [], to: connection)
      case .nonsense: answer(200, Array("<html>".utf8), to: connection)
      }
    }
  }

  /// Made once: it takes a tenth of a second.
  private static let someKey = Result { try PrivateKey.generate(.rs256) }
  static let stranger = Result { try PrivateKey.generate(.rs256) }

  /// Settings of a service whose people come from here.
  var settings: [String: String] {
    [
      "BRAMLEY_FIREBASE_PROJECT_ID": Self.project,
      "BRAMLEY_FIREBASE_KEYS_URL": "http://127.0.0.1:\(listener.port)/keys?of=securetoken@system",
    ]
  }

  var requests: Int { state.read(\.requests) }
  func behave(_ behaviour: Behaviour) { state.update { $0.behaviour = behaviour } }

  /// An ID token.
  ///
  /// - Parameters:
  ///   - changes: Claims to set; a null takes one out.
  ///   - header: In the place of the right one.
  func token(
    _ uid: String, setting changes: [String: JSONValue] = [:], header: String? = nil,
    by key: PrivateKey? = nil
  ) throws -> String {
    let now = Int64(time(nil))
    var members: [String: JSONValue] = [
      "iss": .text("https://securetoken.google.com/" + Self.project), "aud": .text(Self.project),
      "sub": .text(uid), "user_id": .text(uid), "iat": .integer(now), "exp": .integer(now + 3600),
      "auth_time": .integer(now - 100_000 - Int64(Mint.number())),
      "email": .text("from-the-token@example.com"),
      "email_verified": .flag(true),
      "firebase": .object(
        try JSONObject(parsing: #"{"identities":{},"sign_in_provider":"apple.com"}"#.utf8)),
    ]
    members.merge(changes) { $1 }
    var payload = JSONWriter(reserving: 512)
    for (name, value) in members.sorted(by: { $0.key < $1.key }) {
      if case .null = value { continue }
      payload.member(name, json: value.encoded)
    }
    let header = header ?? #"{"alg":"RS256","kid":"\#(keyID.text)","typ":"JWT"}"#
    let signed = base64URLText(Array(header.utf8)) + "." + base64URLText(payload.finish())
    return signed + "." + base64URLText(try (key ?? self.key).sign(Array(signed.utf8)))
  }
}

/// Reads the head of a request; whatever it asks for, the answer is the same.
private func isWholeHead(from connection: Int32) -> Bool {
  var received: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: 4096)
  while received.firstRange(of: Array("\r\n\r\n".utf8)) == nil {
    let count = recv(connection, &buffer, buffer.count, 0)
    guard count > 0 else { return false }
    received += buffer[..<count]
  }
  return true
}

private func answer(_ status: Int, _ body: [UInt8], to connection: Int32) {
  let head =
    "HTTP/1.1 \(status) X\r\nContent-Type: application/json\r\nContent-Length: \(body.count)\r\nConnection: close\r\n\r\n"
  let bytes = Array(head.utf8) + body
  _ = bytes.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
}

extension Service {
  /// Comes over; what is answered may be a refusal.
  func tryHandOver(_ token: String) async throws -> HTTPAnswer {
    try await send(.handOver(token))
  }

  func handOver(_ token: String, at location: SourceLocation = #_sourceLocation) async throws -> SignedIn {
    try SignedIn(await tryHandOver(token), at: location)
  }
}

extension HTTPRequest {
  static func handOver(_ token: String) -> HTTPRequest {
    .post("/v1/migrate/firebase", json: #"{"idToken":"\#(token)","device":{"name":"An old phone"}}"#)
  }
}

/// Gives a test a service with an administrator, whose people come from a stand-in for Google.
func withGoogle(
  _ changes: [String: String] = [:], _ behaviour: GoogleDouble.Behaviour = .keySet,
  _ body: (GoogleDouble, Stage, Service) async throws -> Void
) async throws {
  let google = try GoogleDouble(behaviour)
  try await withStage { stage in
    let settings = google.settings.merging(Administrator.settings) { $1 }.merging(changes) { $1 }
    try await body(google, stage, try await stage.start(settings))
  }
}
