internal import Domain
internal import HTTPServer
internal import Sessions
internal import Storage
internal import Wire

/// `GET`, `PATCH` and `DELETE /v1/account`: what is known of the person who asks, what he changes of it, and its end.
struct OwnAccount: Sendable {
  let issuer: SessionIssuer
  let bearers: BearerReader

  func show(_ call: Call) async throws(Failure) -> Response {
    let claims = try bearers.required(of: call.request)
    let account = try await asking { () throws(SessionRefusal) in try await issuer.account(of: claims) }
    return .json(account.json())
  }

  /// A member that is null or empty clears (RFC 7396 §1); one that is not there stays.
  func change(_ call: Call) async throws(Failure) -> Response {
    let claims = try bearers.required(of: call.request)
    let body = FirebaseBody(try call.request.jsonBody())
    var change = AccountChange()
    change.displayName = try body.mergedDisplayName()
    change.photoURL = try body.mergedPhotoURL()
    let wanted = change
    let outcome = try await asking { () throws(SessionRefusal) in
      try await issuer.change(wanted, of: claims, by: call.origin(.person))
    }
    return .json(try outcome.account(inBody: false).json())
  }

  func delete(_ call: Call) async throws(Failure) -> Response {
    let claims = try bearers.required(of: call.request)
    try await asking { () throws(SessionRefusal) in
      try await issuer.deleteAccount(of: claims, by: call.origin(.person))
    }
    return .json(Array("{}".utf8))
  }
}

extension Account {
  /// The account in our own form. Times are seconds since 1970; what is not known is left out.
  func json(_ further: (inout JSONWriter) -> Void = { _ in }) -> [UInt8] {
    var out = JSONWriter(reserving: 1024)
    out.member("localId", id.text)
    out.member("createdAt", createdAt.seconds)
    if lastSignInAt.seconds > 0 { out.member("lastSignInAt", lastSignInAt.seconds) }
    out.member("disabled", isDisabled)
    out.member("anonymous", isAnonymous)
    if let email = profile.email {
      out.member("email", email.text)
      out.member("emailVerified", profile.isEmailVerified)
      out.member("isPrivateEmail", profile.isPrivateEmail)
    }
    out.member("displayName", displayName)
    out.member("firstName", name?.givenName)
    out.member("lastName", name?.familyName)
    out.member("fullName", name?.fullName)
    out.member("photoUrl", photoURL)
    if let status = profile.realUserStatus { out.member("realUserStatus", status.rawValue) }
    if let customClaims { out.member("customClaims", json: Array(customClaims.utf8)) }
    out.member("identities", jsonArray: identities.map(\.json))
    further(&out)
    return out.finish()
  }
}

extension LinkedIdentity {
  fileprivate var json: [UInt8] {
    var out = JSONWriter(reserving: 128)
    out.member("providerId", provider)
    out.member("subject", subject.text)
    out.member("email", email)
    return out.finish()
  }
}
