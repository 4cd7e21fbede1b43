internal import Domain
package import Wire
internal import Crypto

/// An identity token that somebody wants, right or wrong in any way.
///
/// Without further words it is what Apple would issue to a native app at a first sign-in, save for the audience
/// and the nonce, which only the asker knows.
package struct TokenOrder: Sendable {
  /// `aud`.
  package var audience: String?
  /// The nonce claim becomes the lower-case hex SHA-256 of this.
  package var rawNonce: String?
  /// The nonce claim as it is.
  package var nonce: String?
  package var subject = "001234.0123456789abcdef0123456789abcdef.0456"
  package var email: String?
  /// The team that the app has gone to: the token is of the same person there, and says who that was on the way.
  package var transferredTo: String?
  /// `iat`; nil: now.
  package var issuedAt: Int64?
  /// Seconds from `iat` to `exp`.
  package var lifetime: Int64 = 86_400
  /// An authorization code that comes with the token; the token's `c_hash` names it.
  package var code: String?
  /// Claims to set, whatever else was said; a null takes the claim out.
  package var claims: [(name: String, value: JSONValue)] = []
  /// Header members to set; a null takes the member out.
  package var header: [(name: String, value: JSONValue)] = []
  /// Which of the stand-in's keys signs.
  package var keyName: String?
  /// The payload as it is, be it JSON or not.
  package var payload: String?
  /// Whether the signature is that of another message.
  package var breaksSignature = false

  package init() {}

  /// Reads an order from the body of a mint request.
  package init(_ object: JSONObject) throws(JSONTypeError) {
    audience = try object.optionalText("audience")
    rawNonce = try object.optionalText("nonceRaw")
    nonce = try object.optionalText("nonce")
    if let subject = try object.optionalText("subject") { self.subject = subject }
    email = try object.optionalText("email")
    transferredTo = try object.optionalText("transferredTo")
    issuedAt = try object.optionalInteger("issuedAt")
    if let lifetime = try object.optionalInteger("expiresIn") { self.lifetime = lifetime }
    keyName = try object.optionalText("key")
    payload = try object.optionalText("payload")
    breaksSignature = try object.optionalFlag("breakSignature") ?? false
    claims = members(try object.optionalObject("claims"))
    header = members(try object.optionalObject("header"))
  }

  /// The payload that is signed.
  func payloadBytes(now: UnixTime) -> [UInt8] {
    if let payload { return Array(payload.utf8) }
    let issuedAt = issuedAt ?? now.seconds
    let transfer = transferredTo.map { MockTransfer(person: subject, team: $0) }
    var members: [(name: String, value: JSONValue)] = [("iss", .text("https://appleid.apple.com"))]
    if let audience { members.append(("aud", .text(audience))) }
    members.append(("exp", .integer(issuedAt + lifetime)))
    members.append(("iat", .integer(issuedAt)))
    members.append(("sub", .text(transfer?.subject ?? subject)))
    if let transfer { members.append(("transfer_sub", .text(transfer.transferSubject))) }
    if let claim = nonce ?? rawNonce.map({ hexText(sha256(Array($0.utf8))) }) {
      members.append(("nonce", .text(claim)))
    }
    let isRelayed = email?.hasSuffix("@privaterelay.appleid.com") ?? false
    if let email = isRelayed ? transfer?.relayAddress ?? email : email {
      members.append(("email", .text(email)))
      members.append(("email_verified", .flag(true)))
      if isRelayed { members.append(("is_private_email", .flag(true))) }
    }
    if let code {
      members.append(("c_hash", .text(base64URLText(Array(sha256(Array(code.utf8)).prefix(16))))))
    }
    members.append(("auth_time", .integer(issuedAt)))
    members.append(("nonce_supported", .flag(true)))
    members.append(("real_user_status", .integer(2)))
    return json(of: replacing(members, with: claims))
  }

  /// The header that is signed.
  func headerBytes(keyID: KeyID) -> [UInt8] {
    json(of: replacing([("kid", .text(keyID.text)), ("alg", .text("RS256"))], with: header))
  }
}

private func members(_ object: JSONObject?) -> [(name: String, value: JSONValue)] {
  guard let object else { return [] }
  return object.names.compactMap { name in object[name].map { (name, $0) } }
}

private func replacing(
  _ members: [(name: String, value: JSONValue)], with others: [(name: String, value: JSONValue)]
) -> [(name: String, value: JSONValue)] {
  var result = members.filter { member in !others.contains { $0.name == member.name } }
  for other in others {
    if case .null = other.value { continue }
    result.append(other)
  }
  return result
}

private func json(of members: [(name: String, value: JSONValue)]) -> [UInt8] {
  var out = JSONWriter()
  for member in members { out.member(member.name, json: member.value.encoded) }
  return out.finish()
}
