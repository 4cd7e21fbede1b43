import BramleyVerifier
import Crypto
import Domain
import JOSE
import Synchronization
import TestSupport
import Wire

/// An issuer as far as a verifier sees it: a key set, a feed, and the ways in which both fail.
final class IssuerDouble: HTTPFetching {
  static let url = "https://auth.example.com"
  static let audience = "bramley"

  private struct State {
    var keySet: [UInt8] = []
    var keySetStatus = 200
    var cacheControl: String? = "public, max-age=900"
    var isDown = false
    var holdsKeys = false
    var held: [CheckedContinuation<Void, Never>] = []
    var arrivals: [CheckedContinuation<Void, Never>] = []
    var pages: [String] = []
    var keyFetches = 0
    var feedRequests: [FetchRequest] = []
  }

  private let state = Mutex(State())

  init(_ keys: SigningKey...) { publish(keys) }

  func publish(_ keys: [SigningKey]) {
    publish(bytes: KeySet.json(of: keys.map { JSONWebKey(keyID: $0.id, key: $0.key.publicKey) }))
  }

  func publish(bytes: [UInt8], status: Int = 200) {
    state.withLock { ($0.keySet, $0.keySetStatus) = (bytes, status) }
  }

  func setCacheControl(_ text: String?) { state.withLock { $0.cacheControl = text } }
  func setDown(_ isDown: Bool) { state.withLock { $0.isDown = isDown } }

  /// From now on answers to the key set wait for ``release()``.
  func hold() { state.withLock { $0.holdsKeys = true } }

  func release() {
    let held = state.withLock { state in
      defer { (state.held, state.holdsKeys) = ([], false) }
      return state.held
    }
    for continuation in held { continuation.resume() }
  }

  /// Returns when an answer is held.
  func keysAreAskedFor() async {
    await withCheckedContinuation { continuation in
      let isHeld = state.withLock { state in
        if state.held.isEmpty { state.arrivals.append(continuation) }
        return !state.held.isEmpty
      }
      if isHeld { continuation.resume() }
    }
  }

  /// Adds an answer of the feed; when there is none left it fails.
  func addPage(_ entries: String..., cursor: String) {
    addPage(text: #"{"revocations":[\#(entries.joined(separator: ","))],"cursor":"\#(cursor)"}"#)
  }

  func addPage(text: String) { state.withLock { $0.pages.append(text) } }

  var keyFetches: Int { state.withLock { $0.keyFetches } }
  var feedRequests: [FetchRequest] { state.withLock { $0.feedRequests } }

  func fetch(_ request: FetchRequest) async throws(FetchError) -> FetchResponse {
    if request.url.hasPrefix(Self.url + "/v1/revocations?") { return try feed(request) }
    precondition(request.url == Self.url + "/.well-known/jwks.json", "\(request.url)")
    let holds = state.withLock { state in
      state.keyFetches += 1
      return state.holdsKeys
    }
    if holds { await held() }
    let (isDown, answer) = state.withLock { state in
      (
        state.isDown,
        FetchResponse(
          status: state.keySetStatus, contentType: "application/json", cacheControl: state.cacheControl,
          body: state.keySet)
      )
    }
    if isDown { throw .couldNotConnect }
    return answer
  }

  private func feed(_ request: FetchRequest) throws(FetchError) -> FetchResponse {
    let page: String? = state.withLock { state in
      state.feedRequests.append(request)
      return state.isDown || state.pages.isEmpty ? nil : state.pages.removeFirst()
    }
    guard let page else { throw .timedOut }
    return .json(Array(page.utf8))
  }

  private func held() async {
    await withCheckedContinuation { continuation in
      let arrivals = state.withLock { state in
        state.held.append(continuation)
        defer { state.arrivals = [] }
        return state.arrivals
      }
      for arrival in arrivals { arrival.resume() }
    }
  }

  /// A verifier that moves only when it is told to.
  func verifier(
    _ clock: ManualClock, feed: RevocationFeed? = nil, keyPolicy: KeyPolicy = KeyPolicy()
  ) -> SessionVerifier {
    SessionVerifier(
      rules: SessionRules(issuer: Self.url, audience: Self.audience, leeway: 60),
      keySetURL: Self.url + "/.well-known/jwks.json", keyPolicy: keyPolicy, revocations: feed, fetcher: self,
      clock: VerifierClock(wall: clock.wall, steady: clock.steady), isSelfMoving: false)
  }
}

/// A key of the issuer's, or a stranger's.
struct SigningKey: Sendable {
  let key: PrivateKey
  let id: KeyID

  init(_ algorithm: SignatureAlgorithm = .es256) throws {
    key = try PrivateKey.generate(algorithm)
    id = thumbprint(of: key.publicKey)
  }

  func token(_ claims: SessionClaims) throws -> String {
    try signCompact(payload: Array(claims.json.utf8), key: key, keyID: id, type: "JWT")
  }

  /// A token with exactly this header.
  func token(header: String, _ claims: SessionClaims) throws -> String {
    let signed = base64URLText(Array(header.utf8)) + "." + base64URLText(Array(claims.json.utf8))
    return signed + "." + base64URLText(try key.sign(Array(signed.utf8)))
  }
}

/// Claims as the issuer writes them, each a name and JSON text.
struct SessionClaims: Sendable {
  static let session = "0123456789abcdef0123456789abcdef"
  static let account = "Zq3bUeV0cXbK1mYpA7Jt5RwLhS2d"

  private var members: [(name: String, json: String)]

  init(issuedAt time: UnixTime) {
    members = [
      ("role", jsonText("gardener")), ("iss", jsonText(IssuerDouble.url)),
      ("aud", jsonText(IssuerDouble.audience)), ("sub", jsonText(Self.account)),
      ("user_id", jsonText(Self.account)), ("iat", "\(time.seconds)"), ("exp", "\(time.seconds + 3600)"),
      ("auth_time", "\(time.seconds - 30)"), ("sid", jsonText(Self.session)),
      ("email", jsonText("ada@example.com")), ("email_verified", "true"),
      ("firebase", #"{"identities":{"apple.com":["001"]},"sign_in_provider":"apple.com"}"#),
    ]
  }

  /// The same but for one claim, whose value is JSON text; nil leaves it out.
  func setting(_ name: String, _ json: String?) -> SessionClaims {
    var copy = self
    copy.members.removeAll { $0.name == name }
    if let json { copy.members.append((name, json)) }
    return copy
  }

  var json: String {
    "{" + members.map { jsonText($0.name) + ":" + $0.json }.joined(separator: ",") + "}"
  }
}
