import BramleyClient
import Foundation
import TestProcesses
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A service as the kit sees it, with a clock of its own; it answers sign-ins and refreshes as the contract says, unless a
/// test has it do something else.
final class ServiceDouble: Transport {
  struct State: Sendable {
    var requests: [URLRequest] = []
    /// Its clock, seconds since 1970.
    var time: TimeInterval = 1_790_000_000
    var counter = 0
    var uid = "person1"
    var sessions = 0
    /// The tokens that are good, and the credentials that were used.
    var current: [String: String] = [:]
    /// What each old token was traded for.
    var successors: [String: String] = [:]
    var used: [[String?]: TransportAnswer] = [:]
    var sendsDate = true
    /// What it does instead, for one request each; nil lets it answer.
    var tricks: [Trick] = []
    /// What it does instead, whenever it is asked something.
    var habit: (@Sendable (URLRequest) -> Trick?)?
    /// Paths whose requests wait until they are no longer here.
    var held: Set<String> = []
    /// What happens, once, while a request is on its way, and while its answer is.
    var meanwhile: (@Sendable () async throws -> Void)?
    var afterwards: (@Sendable () async throws -> Void)?
    /// Whose session a session token is of, and sessions without an identity.
    var owners: [String: String] = [:]
    var guests: Set<String> = []
  }

  enum Trick: Sendable {
    case answer(Int, String, reason: String = "x", headers: [String: String] = [:])
    case raw(TransportAnswer)
    case fail(URLError.Code)
    /// Does what is asked, and then the answer gets lost.
    case loseAnswer
  }

  let state = Watched(State())
  let ttl: TimeInterval = 3600

  /// The paths that were asked for.
  var paths: [String] { state.read { $0.requests.map { $0.url?.path ?? "" } } }
  func count(_ path: String) -> Int { paths.count { $0 == path } }

  /// Waits until it was told that a session is over.
  func isTold() async throws {
    _ = try await state.first { $0.requests.last?.url?.path == "/v1/signOut" ? true : nil }
  }

  func play(_ tricks: Trick...) { state.update { $0.tricks += tricks } }

  func answer(to request: URLRequest) async throws -> TransportAnswer {
    // As a network does, so that callers wait at the same time.
    await Task.yield()
    let path = request.url?.path ?? ""
    _ = try await state.first { $0.held.contains(path) ? nil : true }
    let meanwhile = state.update { state in
      defer { state.meanwhile = nil }
      return state.meanwhile
    }
    try await meanwhile?()
    let (answer, afterwards) = state.update { state in
      defer { state.afterwards = nil }
      return (Result { try reply(to: request, &state) }, state.afterwards)
    }
    try await afterwards?()
    return try answer.get()
  }

  private func reply(to request: URLRequest, _ state: inout State) throws -> TransportAnswer {
    state.requests.append(request)
    switch state.tricks.isEmpty ? state.habit?(request) : state.tricks.removeFirst() {
    case .answer(let status, let code, let reason, let headers):
      return Self.refusal(status, code, reason, headers)
    case .raw(let answer): return answer
    case .fail(let code): throw URLError(code)
    case .loseAnswer:
      _ = respond(to: request, &state)
      throw URLError(.networkConnectionLost)
    case nil: return respond(to: request, &state)
    }
  }

  static func refusal(
    _ status: Int, _ code: String, _ reason: String = "x", _ headers: [String: String] = [:]
  ) -> TransportAnswer {
    let body =
      #"{"error":{"code":\#(status),"message":"\#(code) : A sentence.","status":"S","errors":[],"details":[{"reason":"\#(reason)","requestId":"r1"}]}}"#
    return TransportAnswer(status: status, headers: headers, body: Data(body.utf8))
  }

  private func respond(to request: URLRequest, _ state: inout State) -> TransportAnswer {
    let body = request.httpBody ?? Data()
    let members = (try? JSONSerialization.jsonObject(with: body)) as? [String: Any] ?? [:]
    switch request.url?.path {
    case "/v1/signInWithIdp":
      let linked = bearer(of: request, state)
      let same = [members["idToken"] as? String, members["rawNonce"] as? String, linked]
      if let before = state.used[same] { return before }
      // A link ends the session that it is made with.
      if let linked { state.current[linked] = nil }
      let answer = signIn(members, &state)
      state.used[same] = answer
      return answer
    case "/v1/accounts:signUp": return signIn([:], isGuest: true, &state)
    case "/v1/token":
      let token = members["refreshToken"] as? String ?? ""
      // The one before gets the same successor again.
      let meant = state.successors[token]
      guard let session = state.current.first(where: { $0.value == meant ?? token })?.key else {
        return Self.refusal(400, "TOKEN_EXPIRED", "session_ended")
      }
      var next = tokens(session, &state)
      if let meant { (next.refresh, state.current[session]) = (meant, meant) }
      state.successors[token] = next.refresh
      return ok(["id_token": next.id, "refresh_token": next.refresh, "expires_in": "3600"], state)
    case "/v1/nonces": return ok(["nonce": "bwn1.challenge", "sha256": "x", "expiresIn": "300"], state)
    case "/v1/account": return request.httpMethod == "DELETE" ? ok([:], state) : account(members, state)
    case "/v1/signOut":
      let token = members["refreshToken"] as? String
      state.current = state.current.filter { $0.value != token && $0.value != state.successors[token ?? ""] }
      return ok([:], state)
    case "/v2/accounts:revokeToken": return ok([:], state)
    default: return Self.refusal(404, "INVALID_ARGUMENT", "not_found")
    }
  }

  private func account(_ members: [String: Any], _ state: State) -> TransportAnswer {
    ok(
      [
        "localId": state.uid, "createdAt": 1_780_000_000, "lastSignInAt": 1_790_000_000, "disabled": false,
        "anonymous": false, "email": "ada@example.com", "emailVerified": true,
        "displayName": members["displayName"] as? String ?? "Ada", "credentialState": "authorized",
        "identities": [["providerId": "apple.com", "subject": "001.a.1", "email": "ada@example.com"]],
      ], state)
  }

  private func bearer(of request: URLRequest, _ state: State) -> String? {
    let words = request.value(forHTTPHeaderField: "Authorization")?.split(separator: " ") ?? []
    return words.last.flatMap { state.owners[String($0)] }
  }

  private func signIn(
    _ members: [String: Any], isGuest: Bool = false, _ state: inout State
  ) -> TransportAnswer {
    state.sessions += 1
    let session = "session\(state.sessions)"
    if isGuest { state.guests.insert(session) }
    let tokens = tokens(session, &state)
    if isGuest {
      return ok(["idToken": tokens.id, "refreshToken": tokens.refresh, "localId": state.uid], state)
    }
    return ok(
      [
        "idToken": tokens.id, "refreshToken": tokens.refresh, "expiresIn": "3600", "localId": state.uid,
        "providerId": "apple.com", "federatedId": "001.a.1", "email": "ada@example.com",
        "emailVerified": true,
        "isNewUser": state.sessions == 1, "displayName": "Ada", "rawUserInfo": #"{"sub":"001.a.1"}"#,
        "oauthIdToken": members["idToken"] as? String ?? "",
      ], state)
  }

  private func tokens(_ session: String, _ state: inout State) -> (id: String, refresh: String) {
    state.counter += 1
    let refresh = "refresh\(state.counter)"
    state.current[session] = refresh
    var claims: [String: Any] = [
      "iat": Int(state.time), "exp": Int(state.time + ttl), "auth_time": Int(state.time), "sub": state.uid,
      "sid": session, "email": "ada@example.com", "email_verified": true, "name": "Ada", "role": "gardener",
      "n": state.counter,
      "firebase": ["sign_in_provider": "apple.com", "identities": ["apple.com": ["001.a.1"]]],
    ]
    if state.guests.contains(session) {
      claims["firebase"] = ["sign_in_provider": "anonymous"]
      for name in ["email", "email_verified", "name"] { claims[name] = nil }
    }
    let payload = (try? JSONSerialization.data(withJSONObject: claims)) ?? Data()
    let text = payload.base64EncodedString().replacingOccurrences(of: "=", with: "")
      .replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
    state.owners["e30.\(text).c2ln"] = session
    return ("e30.\(text).c2ln", refresh)
  }

  private func ok(_ members: [String: Any], _ state: State) -> TransportAnswer {
    var headers: [String: String] = [:]
    if state.sendsDate { headers["date"] = httpDate(state.time) }
    let body = (try? JSONSerialization.data(withJSONObject: members)) ?? Data()
    return TransportAnswer(status: 200, headers: headers, body: body)
  }
}

/// A `Date` header's text.
func httpDate(_ time: TimeInterval) -> String {
  let format = DateFormatter()
  format.locale = Locale(identifier: "en_US_POSIX")
  format.timeZone = TimeZone(secondsFromGMT: 0)
  format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
  return format.string(from: Date(timeIntervalSince1970: time))
}

/// A store that can fail: a Keychain before the device was unlocked, or a disk that is full.
final class FailingStore: SessionStore {
  let inner = MemoryStore()
  let isUnreadable = Watched(false)
  /// How many more looks find it so, for as long as nothing else is said.
  let refusals = Watched(0)
  /// Whether that may pass by itself.
  let mayRecover = Watched(true)
  /// What is there can be read.
  let isFull = Watched(false)

  func mayPass(_ fault: any Error) -> Bool { mayRecover.read { $0 } }

  func update<R>(_ body: (inout Data?) throws -> R) throws -> R {
    let isRefused = refusals.update { refusals in
      defer { refusals = max(0, refusals - 1) }
      return refusals > 0
    }
    if isRefused || isUnreadable.read({ $0 }) { throw CocoaError(.fileReadNoPermission) }
    return try inner.update { value in
      let before = value
      let result = try body(&value)
      guard value == before || !isFull.read({ $0 }) else {
        value = before
        throw CocoaError(.fileWriteOutOfSpace)
      }
      return result
    }
  }
}

/// A store that lets something happen at a certain moment.
final class HookedStore: SessionStore {
  typealias Hook = @Sendable () throws -> Void

  private let inner = MemoryStore()
  private let lock = NSLock()
  /// After the value was read, and before whoever asked has it.
  let afterRead = Watched<Hook?>(nil)
  /// After a change was made up, and before it can be read.
  let beforeWrite = Watched<Hook?>(nil)

  func read() throws -> Data? {
    let value = try inner.read()
    try afterRead.read { $0 }?()
    return value
  }

  func update<R>(_ body: (inout Data?) throws -> R) throws -> R {
    try lock.withLock {
      var value = try inner.read()
      let result = try body(&value)
      try beforeWrite.read { $0 }?()
      try inner.update { $0 = value }
      return result
    }
  }
}

/// A device whose clocks a test moves, with an app on it.
final class Device: Sendable {
  struct Clocks: Sendable {
    /// What it shows, which may be anything.
    var wall: TimeInterval = 1_790_000_000
    var steady: TimeInterval = 1000
    var slept: [TimeInterval] = []
    var consent: CredentialState?
  }

  let clocks = Watched(Clocks())
  let service: ServiceDouble
  let store: any SessionStore

  init(_ service: ServiceDouble = ServiceDouble(), store: any SessionStore = MemoryStore()) {
    self.service = service
    self.store = store
  }

  /// Lets time go by everywhere.
  func pass(_ seconds: TimeInterval) {
    clocks.update {
      $0.wall += seconds
      $0.steady += seconds
    }
    service.state.update { $0.time += seconds }
  }

  /// Starts the app: a process of its own as far as memory goes.
  func app() -> Auth {
    let clocks = clocks
    let world = Surroundings(
      now: { Date(timeIntervalSince1970: clocks.read(\.wall)) }, steady: { clocks.read(\.steady) },
      sleep: { [self] seconds in
        clocks.update { $0.slept.append(seconds) }
        pass(seconds)
      },
      chance: { 0.5 },
      deviceState: { _ in
        guard let consent = clocks.read(\.consent) else { throw URLError(.unknown) }
        return consent
      })
    return Auth(
      url: URL(string: "https://auth.example.com") ?? URL(fileURLWithPath: "/"), store: store,
      transport: service,
      world: world)
  }

  /// An app with somebody signed in.
  func signedIn() async throws -> (auth: Auth, user: User) {
    let auth = app()
    return (auth, try await auth.signIn(with: credential()).user)
  }
}

/// What Apple gave; another one each time.
func credential(_ number: Int = Int.random(in: 0..<1 << 40)) -> OAuthCredential {
  var name = PersonNameComponents()
  name.givenName = "Ada"
  return OAuthProvider.appleCredential(
    withIDToken: "apple\(number)", rawNonce: "raw\(number)", fullName: name)
}

/// The error that a call ends with.
func fault(
  at location: SourceLocation = #_sourceLocation, _ work: () async throws -> Void
) async -> (code: AuthErrorCode?, details: [String: Any]) {
  do {
    try await work()
    Issue.record("there was no error", sourceLocation: location)
    return (nil, [:])
  } catch {
    let error = error as NSError
    #expect(error.domain == AuthErrorDomain, "\(error)", sourceLocation: location)
    return (AuthErrorCode(rawValue: error.code), error.userInfo)
  }
}
