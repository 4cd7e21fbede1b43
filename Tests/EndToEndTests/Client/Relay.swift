import BramleyClient
import Foundation
import TestProcesses

/// A network between app and service that can lose answers.
final class Relay: Sendable {
  private struct State: Sendable {
    var target: UInt16
    var losesAnswers = false
    var lost: [HTTPAnswer] = []
    var requests: [Delivery] = []
    /// What the next answer waits for, and how many have waited.
    var gate: DispatchSemaphore?
    var held = 0
  }

  private let listener: LoopbackListener
  private let state: Watched<State>

  init(to target: UInt16) throws {
    let state = Watched(State(target: target))
    self.state = state
    listener = try LoopbackListener { Self.serve($0, state) }
  }

  var url: String { "http://127.0.0.1:\(listener.port)" }

  /// Everything that was asked for, in order.
  var requests: [Delivery] { state.read(\.requests) }

  /// Lets requests through from now on, and the answers get lost, or not any more.
  func loseAnswers(_ losesAnswers: Bool) { state.update { $0.losesAnswers = losesAnswers } }

  /// Keeps the next answer back until what is given out is called.
  func holdNextAnswer() -> @Sendable () -> Void {
    let gate = DispatchSemaphore(value: 0)
    state.update { $0.gate = gate }
    return { gate.signal() }
  }

  /// Waits until an answer is kept back.
  func held() async throws { _ = try await state.first { $0.held > 0 ? true : nil } }

  /// Waits until a path was asked for.
  func asked(_ target: String) async throws {
    _ = try await state.first { state in state.requests.contains { $0.target == target } ? true : nil }
  }

  /// Goes on with another service.
  func lead(to target: UInt16) { state.update { $0.target = target } }

  /// Waits until so many answers were given and lost.
  func lost(_ count: Int) async throws -> [HTTPAnswer] {
    try await state.first { $0.lost.count >= count ? $0.lost : nil }
  }

  private static func serve(_ connection: Int32, _ state: Watched<State>) {
    var received = Deliveries(connection)
    while let (delivery, bytes) = received.nextWithBytes() {
      let target = state.update { state in
        state.requests.append(delivery)
        return state.target
      }
      guard let service = try? HTTPConnection(port: target) else { return }
      service.send(bytes)
      guard let answer = try? service.receive() else { return }
      let gate = state.update { state in
        defer { state.gate = nil }
        state.held += state.gate == nil ? 0 : 1
        return state.gate
      }
      gate?.wait()
      let isLost = state.update { state in
        if state.losesAnswers { state.lost.append(answer) }
        return state.losesAnswers
      }
      if isLost { return }
      let head = answer.headers.map { "\($0.name): \($0.value)\r\n" }.joined()
      received.send(Array("HTTP/1.1 \(answer.status) X\r\n\(head)\r\n".utf8) + answer.body)
    }
  }
}

/// A device whose clock a test moves ahead, with an app on it that speaks to a real service.
final class Handset: Sendable {
  let url: String
  let store: any SessionStore
  private let ahead = Watched(0.0)
  private let consent = Watched<CredentialState?>(nil)

  init(_ url: String, store: any SessionStore = MemoryStore()) {
    self.url = url
    self.store = store
  }

  /// Lets time go by on this device alone.
  func pass(_ seconds: Double) { ahead.update { $0 += seconds } }

  /// What the device is to say of the consent.
  func say(_ state: CredentialState) { consent.update { $0 = state } }

  /// Starts the app.
  func app() throws -> Auth {
    var world = Surroundings.system
    let (ahead, consent, steady) = (ahead, consent, world.steady)
    world.now = { Date() + ahead.read { $0 } }
    world.steady = { steady() + ahead.read { $0 } }
    world.deviceState = { _ in
      guard let state = consent.read({ $0 }) else { throw URLError(.unknown) }
      return state
    }
    guard let url = URL(string: url) else { throw URLError(.badURL) }
    return Auth(url: url, store: store, device: .current, transport: URLTransport(), world: world)
  }
}

extension AuthCredential {
  /// What an app makes of what Apple gave it.
  static func of(_ credential: Credential, name: String? = nil, code: String? = nil) -> AuthCredential {
    var components = PersonNameComponents()
    components.givenName = name
    return OAuthProvider.appleCredential(
      withIDToken: credential.idToken, rawNonce: credential.rawNonce, fullName: components,
      authorizationCode: code)
  }
}

/// The case of the error that a call ends with, and the service's word for it; nil when it succeeds.
func fault(_ work: () async throws -> Void) async -> (code: AuthErrorCode?, reason: String?, error: NSError?)
{
  do {
    try await work()
    return (nil, nil, nil)
  } catch {
    let error = error as NSError
    return (
      AuthErrorCode(rawValue: error.code), error.userInfo[AuthErrorUserInfoReasonKey] as? String, error
    )
  }
}
