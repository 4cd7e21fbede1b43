internal import Domain
internal import HTTPServer
internal import Sessions
internal import Wire

/// A sign-in in Firebase's form: `accounts:signInWithIdp`, or `verifyAssertion` by its older name.
struct FirebaseSignIn: Sendable {
  /// The session that the identity is to be added to; in this form not Apple's token.
  let idToken: String?
  private let postBody: PostBody
  private let pendingToken: String?
  private let createsAccount: Bool
  /// Nil for the address that the SDKs send for native sign-ins.
  private let redirectURI: String?
  /// Whether a conflict is answered with 200 and an `errorMessage`, as iOS always asks.
  private let returnsConflicts: Bool

  /// Whether a body has this form: it has a field that ours does not have, or it went to a path of Firebase's and has
  /// not the one that ours cannot be without.
  static func isForm(of body: JSONObject, onFirebasePath: Bool) -> Bool {
    let fields = FirebaseBody(body)
    return ["postBody", "pendingToken", "requestUri", "sessionId"].contains { fields.has($0) }
      || onFirebasePath && !fields.has("rawNonce")
  }

  init(_ body: FirebaseBody) throws(Failure) {
    try body.refuseTenant()
    try body.refuse(["targetProjectId"], as: .insufficientPermission)
    guard let requestURI = try body.text("requestUri") else { throw Failure(.missingRequestURI) }
    guard let parameters = callbackParameters(of: requestURI) else { throw Failure(.invalidRequestURI) }
    let given = try body.text("postBody")
    postBody = try readPostBody(given ?? parameters)
    guard postBody.providerID == nil || postBody.providerID == appleProviderID else {
      throw Failure(.invalidProviderID)
    }
    pendingToken = try body.text("pendingToken")
    // What stands beside a pending token has to carry the very token that it was made of.
    let carriesSomething = given != nil || postBody.providerID != nil || !postBody.nonces.isEmpty
    guard pendingToken == nil || postBody.idToken != nil || !carriesSomething else {
      throw Failure(.invalidPendingToken)
    }
    idToken = try body.text("idToken")
    createsAccount = try body.flag("autoCreate") ?? true
    let isNative = ["http://localhost", "http://localhost/"].contains {
      $0.utf8.elementsEqual(requestURI.utf8)
    }
    redirectURI = isNative || requestURI.utf8.count > Limits.codeBytes ? nil : requestURI
    returnsConflicts = try body.flag("returnIdpCredential") ?? false
    // Said, but without effect: tokens always come.
    _ = try body.flag("returnSecureToken")
  }

  func order(link: SessionTokenClaims?) -> SignInOrder {
    SignInOrder(
      idToken: postBody.idToken, rawNonces: postBody.nonces, pendingToken: pendingToken, name: postBody.name,
      device: nil, createsAccount: createsAccount, link: link, code: postBody.code,
      possibleCode: postBody.accessToken, redirectURI: redirectURI)
  }

  /// The answer. JavaScript looks at the presence of `needConfirmation`, `errorMessage` and `mfaPendingCredential`
  /// and not at their values, so they are there only when they are meant.
  func response(to result: SignInResult) throws(Failure) -> Response {
    var out = JSONWriter(reserving: 4096)
    out.member("kind", "identitytoolkit#VerifyAssertionResponse")
    switch result {
    case .signedIn(let signedIn):
      out.signIn(signedIn)
      out.member("nonce", signedIn.rawNonce)
    case .conflict(let conflict):
      if case .emailHeld(let account) = conflict.cause, !conflict.isLink {
        out.member("needConfirmation", true)
        out.member("localId", account.id.text)
        out.member("verifiedProvider", account.identities.map(\.provider))
      } else if returnsConflicts {
        out.member("errorMessage", conflict.failure.reason.row.code.rawValue)
      } else {
        throw conflict.failure.with(conflict.credential)
      }
      for member in conflict.credential { out.member(member.name, json: member.json) }
    }
    return .json(out.finish())
  }
}

extension SignInConflict {
  /// What an SDK builds the credential from that the app may come back with. The one place where an error answer
  /// holds a token: its sender's own.
  fileprivate var credential: [Failure.Member] {
    let texts = [
      ("providerId", appleProviderID), ("federatedId", subject.text), ("email", email?.text),
      ("oauthIdToken", idToken), ("rawUserInfo", rawUserInfo), ("pendingToken", pendingToken),
    ]
    return texts.compactMap { name, text in
      text.map { Failure.Member(name, json: JSONValue.text($0).encoded) }
    }
  }
}

private func readPostBody(_ text: String) throws(Failure) -> PostBody {
  do {
    return try PostBody(parsing: text)
  } catch {
    switch error {
    case .duplicateMember: throw Failure(.duplicateMember, field: "postBody")
    case .nonceMalformed: throw Failure(.nonceMismatch, field: "postBody.nonce")
    case .nonceTooLong: throw Failure(.fieldTooLong, field: "postBody.nonce")
    case .codeTooLong: throw Failure(.fieldTooLong, field: "postBody.code")
    case .malformed: throw Failure(.bodyMalformed, field: "postBody")
    }
  }
}

/// What a callback's address carries when there is no `postBody`: its query, else its fragment. Nil when the text is
/// no absolute address.
private func callbackParameters(of uri: String) -> String? {
  guard isAbsoluteURI(uri) else { return nil }
  let parts = uri.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
  let query = parts[0].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).dropFirst().first
  return String(query ?? (parts.count > 1 ? parts[1] : ""))
}

/// Whether a text is `scheme://` and something behind it (RFC 3986 §3), without spaces and controls.
func isAbsoluteURI(_ text: String) -> Bool {
  guard let separator = text.utf8.firstRange(of: "://".utf8) else { return false }
  return separator.lowerBound > text.utf8.startIndex && separator.upperBound < text.utf8.endIndex
    && text.utf8[..<separator.lowerBound].allSatisfy(isSchemeByte)
    && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
}

private func isSchemeByte(_ byte: UInt8) -> Bool {
  switch byte {
  case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."): true
  default: false
  }
}
