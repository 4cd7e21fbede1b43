internal import AppleIdentity
internal import Domain
internal import HTTPServer
internal import ProviderTokens
internal import Sessions
internal import Storage
internal import Telemetry

/// A sign-in as every wire form brings it, each field of its one type.
struct SignInOrder: Sendable {
  /// Apple's; nil only beside a pending token.
  let idToken: String?
  /// What the raw nonce may be: one text, or the readings of an encoding that does not say how it encodes.
  let rawNonces: [String]
  /// Of an earlier request that met a conflict.
  let pendingToken: String?
  let name: PersonName?
  let device: Device?
  let createsAccount: Bool
  /// The session whose account the identity is to be added to.
  let link: SessionTokenClaims?
  /// Apple's authorization code.
  let code: String?
  /// What is a code if the token says so: some SDKs send it in the place of an access token.
  var possibleCode: String? = nil
  /// The redirect URI of a code of the web.
  let redirectURI: String?
}

/// What a wire form answers a sign-in with.
struct SignedIn: Sendable {
  let session: IssuedSession
  let subject: Subject
  /// Apple's, as it came; nil when only a pending token came.
  let idToken: String?
  /// The reading of the raw nonce that was right.
  let rawNonce: String?
  /// The claims of Apple's token, JSON.
  let rawUserInfo: String?
}

/// A person who proved who he is, but may not have what he asked for; he may come back with the pending token.
struct SignInConflict: Sendable {
  enum Cause: Sendable {
    /// The identity belongs to an account already.
    case identityLinked
    /// This account holds the address.
    case emailHeld(Account)
  }

  let cause: Cause
  let isLink: Bool
  let subject: Subject
  let email: EmailAddress?
  let idToken: String?
  let rawUserInfo: String?
  let pendingToken: String?

  var failure: Failure {
    switch cause {
    case .identityLinked: Failure(.federatedUserIDAlreadyLinked)
    case .emailHeld: Failure(.emailExists)
    }
  }
}

/// What a sign-in came to, apart from refusals.
enum SignInResult: Sendable {
  case signedIn(SignedIn)
  case conflict(SignInConflict)
}

/// Signs people in, whatever form their request has.
///
/// The order is from cheap to dear: the token's own checks, the nonce, and one transaction.
struct SignInOperation: Sendable {
  let directory: KeyDirectory
  let issuer: SessionIssuer
  let clock: WallClock
  let metrics: APIMetrics

  /// Counts a sign-in, and asks the rate of its address before anything is read.
  func counted(
    _ call: Call, _ body: () async throws(Failure) -> (SignInResult, Response)
  ) async throws(Failure) -> Response {
    do throws(Failure) {
      let limits = call.policy.limits
      try limits.take(call.address, from: limits.signInsByAddress)
      let (result, response) = try await body()
      metrics.countSignIn(result.metricLabel)
      return response
    } catch {
      if error.reason == .keyUnknown { metrics.unknownKeyIDs.add() }
      metrics.countSignIn(error.reason.rawValue)
      throw error
    }
  }

  func perform(_ order: SignInOrder, _ call: Call) async throws(Failure) -> SignInResult {
    if let pendingToken = order.pendingToken { return try await redeem(pendingToken, order, call) }
    let (asked, proof) = try await proven(order, call.policy)
    return try await outcome(
      of: order, proof, call, pendingToken: { issuer.pendingToken(for: asked) },
      open: { (createsAccount) throws(SessionRefusal) in
        try await issuer.signIn(asked, createsAccount: createsAccount, by: call.origin(.person))
      })
  }

  /// What a token and a nonce prove, of whom nothing is asked of storage yet.
  func proven(
    _ order: SignInOrder, _ policy: RequestPolicy
  ) async throws(Failure) -> (request: SignInRequest, proof: Proof) {
    let token = try await verified(order.idToken, rules: policy.appleRules)
    let claims = token.verified.claims
    let rawNonce: String
    do {
      rawNonce = try token.verified.nonceRule.match(order.rawNonces, claim: claims.nonce)
    } catch {
      throw Failure(FailureReason(error))
    }
    var request = SignInRequest(
      identity: ProviderIdentity(provider: appleProviderID, subject: claims.subject),
      audience: claims.audience, profile: claims.profile, name: order.name, device: order.device,
      tokenDigest: token.verified.digest, tokenIssuedAt: claims.issuedAt, tokenExpiresAt: claims.expiresAt,
      isTokenTooOld: token.verified.isTooOld, rawNonce: rawNonce,
      demandsChallenge: token.verified.nonceRule.demandsChallenge, link: order.link)
    request.code = try code(of: order, beside: token.verified, policy)
    request.transferSubject = claims.transferSubject
    return (
      request, Proof(subject: claims.subject, email: claims.profile.email, token: token, rawNonce: rawNonce)
    )
  }

  /// What an earlier request proved, without a nonce: the pending token stands for it. A token of Apple's beside it
  /// has to be the very one.
  private func redeem(
    _ pendingToken: String, _ order: SignInOrder, _ call: Call
  ) async throws(Failure) -> SignInResult {
    let rules = call.policy.appleRules
    guard let pending = issuer.pendingCredential(from: pendingToken),
      rules.clients[pending.audience] != nil
    else { throw Failure(.invalidPendingToken) }
    var token: Token?
    if let idToken = order.idToken {
      let beside = try await verified(idToken, rules: rules)
      guard beside.verified.digest == pending.credential.digest else { throw Failure(.invalidPendingToken) }
      token = beside
    }
    var request = PendingSignInRequest(pending: pending, device: order.device, link: order.link)
    request.code = try code(of: order, beside: token?.verified, call.policy)
    let asked = request
    let proof = Proof(
      subject: pending.identity.subject, email: pending.profile.email, token: token, rawNonce: nil)
    return try await outcome(
      of: order, proof, call, pendingToken: { pendingToken },
      open: { (createsAccount) throws(SessionRefusal) in
        try await issuer.signIn(asked, createsAccount: createsAccount, by: call.origin(.person))
      })
  }

  /// The code that is to be exchanged. One of another token than this is refused with all that came with it: whoever
  /// brings it has it from somebody else, or mixed up two sign-ins.
  private func code(
    of order: SignInOrder, beside token: VerifiedIdentityToken?, _ policy: RequestPolicy
  ) throws(Failure) -> AuthorizationCode? {
    guard policy.hasAppleKey else { return nil }
    if let code = order.code {
      guard token?.fit(of: code) != .foreign else { throw Failure(.codeMismatch) }
      return AuthorizationCode(text: Secret(code), redirectURI: order.redirectURI)
    }
    guard let code = order.possibleCode, token?.fit(of: code) == .bound else {
      return nil
    }
    return AuthorizationCode(text: Secret(code), redirectURI: order.redirectURI)
  }

  private func outcome(
    of order: SignInOrder, _ proof: Proof, _ call: Call, pendingToken: () -> String?,
    open: (_ createsAccount: Bool) async throws(SessionRefusal) -> IssuedSession
  ) async throws(Failure) -> SignInResult {
    let limits = call.policy.limits
    try limits.take(Array(proof.subject.text.utf8), from: limits.signInsByAccount)
    let cause: SignInConflict.Cause
    do throws(OpeningRefusal) {
      let session = try await call.openingAccount(isWanted: order.createsAccount, open)
      return .signedIn(
        SignedIn(
          session: session,
          // A late token of the team that the app came from names another subject than the one that counts.
          subject: session.account.identity(at: appleProviderID)?.subject ?? proof.subject,
          idToken: proof.token?.text, rawNonce: proof.rawNonce,
          rawUserInfo: proof.token?.claimsText))
    } catch {
      switch error {
      case .refused(.identityAlreadyLinked): cause = .identityLinked
      case .refused(.emailHeld(let account)): cause = .emailHeld(account)
      default: throw Failure(refusing: error)
      }
    }
    return .conflict(
      SignInConflict(
        cause: cause, isLink: order.link != nil, subject: proof.subject, email: proof.email,
        idToken: proof.token?.text, rawUserInfo: proof.token?.claimsText, pendingToken: pendingToken()))
  }

  struct Token {
    let text: String
    let claimsText: String
    let verified: VerifiedIdentityToken
  }

  /// Who has proved what.
  struct Proof {
    let subject: Subject
    let email: EmailAddress?
    let token: Token?
    let rawNonce: String?
  }

  private func verified(_ text: String?, rules: IdentityTokenRules) async throws(Failure) -> Token {
    guard let text else { throw Failure(.tokenMissing) }
    do {
      let token = try UnverifiedIdentityToken(parsing: text, rules: rules)
      let key = try await directory.key(token.keyID)
      return Token(
        text: text, claimsText: token.claimsText,
        verified: try token.verified(by: key, rules: rules, now: clock.now()))
    } catch {
      throw Failure(FailureReason(error))
    }
  }
}

extension SignInResult {
  fileprivate var metricLabel: String {
    switch self {
    case .signedIn(let result):
      result.session.isRepeat ? "repeated" : result.session.isNewUser ? "new_account" : "returning"
    case .conflict(let conflict): conflict.failure.reason.rawValue
    }
  }
}
