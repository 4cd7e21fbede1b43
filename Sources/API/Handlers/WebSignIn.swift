internal import AppleIdentity
internal import Crypto
internal import Domain
internal import HTTPServer
internal import Sessions
internal import Storage
internal import Wire

/// The web flow, for apps without Apple's sheet: `GET /v1/apple/authorize` sends a browser to Apple,
/// `POST /v1/apple/callback` takes it back and sends it to the app with a one-time code, and the app, which alone has the
/// verifier, trades that at `POST /v1/token` (RFC 6749 §4.1, RFC 7636, RFC 8252).
struct WebSignIn: Sendable {
  let operation: SignInOperation
  let issuer: SessionIssuer
  let publicURL: String
  let appleBaseURL: String
  let entropy: Entropy
  /// The demonstration's own, in development.
  let demoURL: String?

  private func allowsReturn(to url: String, _ policy: RequestPolicy) -> Bool {
    policy.allowsReturn(to: url) || demoURL.map { $0.utf8.elementsEqual(url.utf8) } ?? false
  }

  private var callbackURL: String { publicURL + "/v1/apple/callback" }
}

// Going there.
extension WebSignIn {
  /// Sends a browser to Apple. What is wrong is told where the person is to end, once that is known and allowed
  /// (RFC 6749 §4.1.2.1).
  func authorize(_ call: Call) throws(Failure) -> Response {
    // What is not known is passed over, and what is empty was left out (RFC 6749 §3.1): libraries send a nonce and a
    // prompt whomever they speak to.
    let fields = try call.request.queryFields()
    guard fields["redirect_uri"] == nil || fields["return_url"] == nil else {
      throw Failure(.duplicateMember, field: "return_url")
    }
    guard let returnURL = fields["redirect_uri"] ?? fields["return_url"] else {
      throw Failure(.fieldMissing, field: "redirect_uri")
    }
    guard allowsReturn(to: returnURL, call.policy) else { throw Failure(.returnURLNotAllowed) }
    let state = fields["state"].flatMap { $0.utf8.count <= Limits.clientStateBytes ? $0 : nil }
    do throws(Failure) {
      return try goToApple(fields, returnURL, call)
    } catch {
      operation.metrics.countSignIn(error.reason.rawValue)
      return returned(302, to: returnURL, clientState: state, because: error)
    }
  }

  private func goToApple(
    _ fields: FormBody, _ returnURL: String, _ call: Call
  ) throws(Failure) -> Response {
    let limits = call.policy.limits
    // All of a sign-in is counted here, and only here: nobody is held up who has been at Apple's page already.
    try limits.take(call.address, from: limits.signInsByAddress)
    guard fields["code_challenge_method"] ?? "S256" == "S256",
      let challenge = fields["code_challenge"].flatMap({ try? decodeBase64URL($0.utf8) }),
      challenge.count == 32
    else { throw Failure(.codeChallengeMissing) }
    guard fields["response_type"] ?? "code" == "code" else {
      throw Failure(.fieldInvalid, field: "response_type")
    }
    guard (fields["state"]?.utf8.count ?? 0) <= Limits.clientStateBytes else {
      throw Failure(.fieldTooLong, field: "state")
    }
    let (client, rule) = try client(named: fields["client_id"], call.policy)
    let browser = BrowserCookie(of: call.request, publicURL: publicURL) ?? BrowserCookie(from: entropy)
    let attempt = WebAttempt(
      client: client, nonce: base64URLText(entropy.bytes(32)), returnURL: returnURL, codeChallenge: challenge,
      clientState: fields["state"], browser: browser.digest,
      expiresAt: operation.clock.now() + Limits.webAttemptSeconds)
    guard let state = issuer.state(of: attempt) else { throw Failure(.internal) }
    let target = url(
      appleBaseURL + "/auth/authorize",
      [
        ("client_id", client.text), ("redirect_uri", callbackURL), ("response_type", "code id_token"),
        ("response_mode", "form_post"), ("scope", "name email"), ("state", state),
        ("nonce", rule.claim(for: attempt.nonce)),
      ])
    var response = redirect(302, to: target)
    response.headers.append("Set-Cookie", browser.field(publicURL: publicURL))
    return response
  }

  /// The client that the browser goes to Apple with. Where one is set, nobody need name it.
  private func client(
    named name: String?, _ policy: RequestPolicy
  ) throws(Failure) -> (ClientID, NonceRule) {
    let clients = policy.appleRules.clients
    guard let name else {
      guard clients.count == 1, let only = clients.first else {
        throw Failure(.fieldMissing, field: "client_id")
      }
      return (only.key, only.value)
    }
    guard let id = ClientID(name), let rule = clients[id] else {
      throw Failure(.audienceNotAllowed, field: "client_id")
    }
    return (id, rule)
  }
}

// Coming back.
extension WebSignIn {
  /// What Apple's page had the browser post. Once it is known where the person wants to go, he goes there, with what he
  /// asked for or with the reason why not.
  func callback(_ call: Call) async throws(Failure) -> Response {
    guard case .form(let form) = try call.request.jsonOrFormBody() else {
      throw Failure(.mediaTypeNotSupported)
    }
    let state = form["state"] ?? ""
    let limits = call.policy.limits
    guard let attempt = issuer.webAttempt(from: state) else {
      try limits.take(call.address, from: limits.signInsByAddress)
      throw Failure(.stateInvalid)
    }
    // It may have been taken off the list meanwhile.
    guard allowsReturn(to: attempt.returnURL, call.policy) else { throw Failure(.returnURLNotAllowed) }
    do throws(Failure) {
      // The address was counted when this began; what comes back of it, as often as somebody likes, is counted by itself.
      try limits.take(sha256(Array(state.utf8)), from: limits.signInsByAccount)
      try check(attempt, call)
      let code = try await code(form, attempt, call)
      return redirect(303, to: returnURL(attempt.returnURL, attempt.clientState, [("code", code)]))
    } catch {
      operation.metrics.countSignIn(error.reason.rawValue)
      return returned(303, to: attempt.returnURL, clientState: attempt.clientState, because: error)
    }
  }

  /// Whether it is the same browser, in time. Which return URL it is does not hang on that, since the attempt is sealed.
  private func check(_ attempt: WebAttempt, _ call: Call) throws(Failure) {
    guard operation.clock.now() < attempt.expiresAt else { throw Failure(.stateExpired) }
    guard let browser = BrowserCookie(of: call.request, publicURL: publicURL),
      browser.isOne(of: attempt.browser)
    else { throw Failure(.stateOfAnotherBrowser) }
  }

  private func code(
    _ form: FormBody, _ attempt: WebAttempt, _ call: Call
  ) async throws(Failure) -> String {
    if let error = form["error"] {
      throw Failure(error == "user_cancelled_authorize" ? .signInCancelled : .appleRefused)
    }
    guard let idToken = form["id_token"] else { throw Failure(.tokenMissing) }
    let code = form["code"]
    guard (code?.utf8.count ?? 0) <= Limits.codeBytes else { throw Failure(.fieldTooLong, field: "code") }
    let order = SignInOrder(
      idToken: idToken, rawNonces: [attempt.nonce], pendingToken: nil,
      name: form["user"].flatMap { PersonName(appleUser: Array($0.utf8)) }, device: nil, createsAccount: true,
      link: nil, code: code, redirectURI: callbackURL)
    let request = try await operation.proven(order, call.policy).request
    guard request.audience == attempt.client else { throw Failure(.audienceNotAllowed) }
    guard !request.isTokenTooOld else { throw Failure(.tokenTooOld) }
    // That an address is in the way is told where there is still somebody to read it.
    try await asking { () throws(SessionRefusal) in try await issuer.receive(request) }
    guard let code = issuer.webCode(for: request, of: attempt) else {
      throw Failure(.internal)
    }
    return code
  }

  private func returnURL(
    _ target: String, _ clientState: String?, _ fields: [(String, String)]
  ) -> String {
    url(target, fields + (clientState.map { [("state", $0)] } ?? []))
  }

  /// Tells the app, through the browser, why there is no code.
  private func returned(
    _ status: Int, to target: String, clientState: String?, because failure: Failure
  ) -> Response {
    let fields = [
      ("error", failure.reason.rawValue), ("error_description", "\(failure.reason.row.sentence)"),
    ]
    var response = redirect(status, to: returnURL(target, clientState, fields))
    if let seconds = failure.retryAfter { response.headers.append("Retry-After", String(seconds)) }
    return response
  }
}

// The trade.
extension WebSignIn {
  /// A session for a one-time code and the verifier that its challenge was made from.
  func trade(_ fields: RequestFields, _ call: Call) async throws(Failure) -> IssuedSession {
    do throws(Failure) {
      let session = try await openSession(fields, call)
      operation.metrics.countSignIn(session.isNewUser ? "new_account" : "returning")
      return session
    } catch {
      operation.metrics.countSignIn(error.reason.rawValue)
      throw error
    }
  }

  private func openSession(_ fields: RequestFields, _ call: Call) async throws(Failure) -> IssuedSession {
    guard let code = try fields.text("code") else { throw Failure(.fieldMissing, field: "code") }
    guard let verifier = try fields.text("code_verifier", "codeVerifier") else {
      throw Failure(.fieldMissing, field: "code_verifier")
    }
    guard isVerifier(verifier) else { throw Failure(.fieldInvalid, field: "code_verifier") }
    let grant: WebGrant
    do {
      grant = try issuer.webGrant(from: code)
    } catch {
      throw Failure(error == .expired ? .codeExpired : .codeInvalid)
    }
    guard grant.isFor(verifier: verifier) else { throw Failure(.codeVerifierMismatch) }
    let client = try fields.text("client_id", "clientId") ?? grant.client.text
    let target = try fields.text("redirect_uri", "redirectUri") ?? grant.returnURL
    // Whoever says for whom the code is has to be right (RFC 6749 §4.1.3).
    guard client.utf8.elementsEqual(grant.client.text.utf8), target.utf8.elementsEqual(grant.returnURL.utf8),
      call.policy.appleRules.clients[grant.client] != nil
    else { throw Failure(.codeInvalid) }
    let limits = call.policy.limits
    try limits.take(Array(grant.subject.text.utf8), from: limits.signInsByAccount)
    do throws(OpeningRefusal) {
      return try await call.openingAccount(isWanted: true) { (createsAccount) throws(SessionRefusal) in
        try await issuer.signIn(grant, createsAccount: createsAccount, by: call.origin(.person))
      }
    } catch {
      if case .refused(.pendingTokenInvalid) = error { throw Failure(.codeAlreadyUsed) }
      throw Failure(refusing: error)
    }
  }
}

/// Somewhere else, in a way that no cache and no third party hears of.
private func redirect(_ status: Int, to target: String) -> Response {
  Response(
    status: status,
    headers: ["Location": target, "Cache-Control": "no-store", "Referrer-Policy": "no-referrer"])
}

/// RFC 7636 §4.1.
private func isVerifier(_ text: String) -> Bool {
  (43...128).contains(text.utf8.count) && text.utf8.allSatisfy(isUnreserved)
}

/// A URL with more fields in its query.
private func url(_ base: String, _ fields: [(String, String)]) -> String {
  let query = fields.map { "\($0)=\(percentEncoded($1))" }.joined(separator: "&")
  return base + (base.utf8.contains(UInt8(ascii: "?")) ? "&" : "?") + query
}
