internal import Crypto
package import Domain
internal import Storage
internal import Wire

/// A sign-in in a browser that is on its way to Apple and back. It travels as Apple's `state`, sealed, and nothing of it
/// is kept: whoever begins a thousand costs no memory, and any node may end what another began.
package struct WebAttempt: Sendable, Equatable {
  /// The Services ID that the browser goes to Apple with.
  package let client: ClientID
  /// The raw nonce, which leaves the server only as what Apple's token has to say of it.
  package let nonce: String
  /// Where the app waits.
  package let returnURL: String
  /// SHA-256 of the verifier that only the app has (RFC 7636 §4.2).
  package let codeChallenge: [UInt8]
  /// What the app wants to see again.
  package let clientState: String?
  /// Digest of the cookie of the browser that began.
  package let browser: [UInt8]
  package let expiresAt: UnixTime

  package init(
    client: ClientID, nonce: String, returnURL: String, codeChallenge: [UInt8], clientState: String?,
    browser: [UInt8], expiresAt: UnixTime
  ) {
    self.client = client
    self.nonce = nonce
    self.returnURL = returnURL
    self.codeChallenge = codeChallenge
    self.clientState = clientState
    self.browser = browser
    self.expiresAt = expiresAt
  }
}

/// A person who proved at Apple's page who he is, on his way from the browser to the app: what the one-time code holds,
/// sealed. The record of the credential makes it single, as that of a pending one.
package struct WebGrant: Sendable {
  let pending: PendingCredential
  let codeChallenge: [UInt8]
  /// Where the app waits.
  package let returnURL: String
  let code: Secret<String>?
  let redirectURI: String?

  /// Whether it is the app's own: only that has the verifier (RFC 7636 §4.6).
  package func isFor(verifier: String) -> Bool {
    constantTimeEqual(sha256(Array(verifier.utf8)), codeChallenge)
  }

  /// Whose it is.
  package var client: ClientID { pending.audience }
  package var subject: Subject { pending.identity.subject }
}

/// Why a text is no grant that counts.
package enum WebRefusal: Error, Equatable, Sendable {
  /// None of ours.
  case invalid
  case expired
}

private let sealedAttempt = SealedText(prefix: "bwa1.", context: Array("web flow bwa1.".utf8), key: \.web)
private let sealedGrant = SealedText(prefix: "bwg1.", context: Array("web flow bwg1.".utf8), key: \.web)

extension MasterKeyRing {
  func text(of attempt: WebAttempt, entropy: Entropy) -> String? {
    sealedAttempt.close(attempt.json, with: self, entropy: entropy)
  }

  func text(of grant: WebGrant, entropy: Entropy) -> String? {
    sealedGrant.close(grant.json, with: self, entropy: entropy)
  }

  func webAttempt(from text: String) -> WebAttempt? {
    sealedAttempt.open(text, with: self).flatMap(WebAttempt.init)
  }

  func webGrant(from text: String, now: UnixTime) throws(WebRefusal) -> WebGrant {
    guard let grant = sealedGrant.open(text, with: self).flatMap(WebGrant.init) else { throw .invalid }
    guard now < grant.pending.expiresAt else { throw .expired }
    return grant
  }
}

extension SessionIssuer {
  /// The `state` of a sign-in that begins; nil only when the cryptography fails.
  package func state(of attempt: WebAttempt) -> String? { ring.text(of: attempt, entropy: entropy) }

  /// Reads a `state` that came back, however late; nil for one that is none of ours.
  package func webAttempt(from state: String) -> WebAttempt? { ring.webAttempt(from: state) }

  /// Takes note of who came back: tells at once what would stand in the way of a trade, and keeps his name where it can.
  package func receive(_ request: SignInRequest) async throws(SessionRefusal) {
    let visit = WebReturn(
      identity: request.identity, profile: request.profile, name: request.name,
      transferSubject: request.transferSubject, linking: linking)
    let outcome = try await asking { () throws(StorageError) in try await storage.take(visit) }
    if case .emailHeld(let account) = outcome { throw .emailHeld(account) }
  }

  /// The one-time code for what a request has proved, good for ``Limits/webCodeSeconds``; nil only when the cryptography
  /// fails.
  package func webCode(for request: SignInRequest, of attempt: WebAttempt) -> String? {
    let pending = pendingCredential(for: request, seconds: Limits.webCodeSeconds)
    return ring.text(
      of: WebGrant(
        pending: pending, codeChallenge: attempt.codeChallenge, returnURL: attempt.returnURL,
        code: request.code?.text, redirectURI: request.code?.redirectURI),
      entropy: entropy)
  }

  /// Reads a one-time code.
  package func webGrant(from code: String) throws(WebRefusal) -> WebGrant {
    try ring.webGrant(from: code, now: clock.now())
  }

  /// Opens the session of a one-time code, once.
  package func signIn(
    _ grant: WebGrant, createsAccount: Bool, by origin: Origin
  ) async throws(SessionRefusal) -> IssuedSession {
    var request = PendingSignInRequest(pending: grant.pending, device: nil, link: nil)
    request.code = grant.code.map { AuthorizationCode(text: $0, redirectURI: grant.redirectURI) }
    return try await signIn(request, createsAccount: createsAccount, by: origin)
  }
}

extension WebAttempt {
  fileprivate var json: [UInt8] {
    var out = JSONWriter(reserving: 512)
    out.member("client", client.text)
    out.member("nonce", nonce)
    out.member("returnUrl", returnURL)
    out.member("codeChallenge", base64URLText(codeChallenge))
    out.member("state", clientState)
    out.member("browser", base64URLText(browser))
    out.member("exp", expiresAt.seconds)
    return out.finish()
  }

  fileprivate init?(_ object: JSONObject) {
    guard let client = object.text("client").flatMap(ClientID.init), let nonce = object.text("nonce"),
      let returnURL = object.text("returnUrl"), let codeChallenge = object.bytes("codeChallenge"),
      let browser = object.bytes("browser"), case .integer(let expiresAt) = object["exp"]
    else { return nil }
    self.init(
      client: client, nonce: nonce, returnURL: returnURL, codeChallenge: codeChallenge,
      clientState: object.text("state"), browser: browser, expiresAt: UnixTime(expiresAt))
  }
}

extension WebGrant {
  fileprivate var json: [UInt8] {
    var out = JSONWriter(reserving: 1024)
    out.member("pending", json: pending.json)
    out.member("codeChallenge", base64URLText(codeChallenge))
    out.member("returnUrl", returnURL)
    out.member("code", code?.reveal())
    out.member("redirectUri", redirectURI)
    return out.finish()
  }

  fileprivate init?(_ object: JSONObject) {
    guard case .object(let inner) = object["pending"], let pending = PendingCredential(inner),
      let codeChallenge = object.bytes("codeChallenge"), let returnURL = object.text("returnUrl")
    else { return nil }
    self.returnURL = returnURL
    self.pending = pending
    self.codeChallenge = codeChallenge
    code = object.text("code").map { Secret($0) }
    redirectURI = object.text("redirectUri")
  }
}

extension JSONObject {
  fileprivate func bytes(_ name: String) -> [UInt8]? {
    text(name).flatMap { try? decodeBase64URL($0.utf8) }
  }
}
