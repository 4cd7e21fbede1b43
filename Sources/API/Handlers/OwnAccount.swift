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
    return .json(account.json(at: call.policy.appleTeam))
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
    return .json(try outcome.account(inBody: false).json(at: call.policy.appleTeam))
  }

  func delete(_ call: Call) async throws(Failure) -> Response {
    let claims = try bearers.required(of: call.request)
    try await asking { () throws(SessionRefusal) in
      try await issuer.deleteAccount(of: claims, by: call.origin(.person))
    }
    return .json(Array("{}".utf8))
  }
}
