package import Domain
package import Storage
internal import Wire

/// A credential that passed every check and then met an account that it may not enter: what it proved, to be
/// brought again without Apple's sheet. Using it, or the credential itself, uses up both.
package struct PendingCredential: Sendable, Equatable {
  package let identity: ProviderIdentity
  /// The client that the person signed in to.
  package let audience: ClientID
  package let profile: Profile
  package let name: PersonName?
  package let credential: CredentialKey
  package let credentialExpiresAt: UnixTime
  /// A challenge of ours that the nonce was, to be used up as well.
  package let challenge: CredentialKey?
  package let expiresAt: UnixTime
  /// As that of a ``SignInRequest``.
  package var transferSubject: Subject?
}

// It names a person, so it is sealed and not only signed; what makes it single is the record of the credential.
private let sealedText = SealedText(
  prefix: "bpt1.", context: Array("pending credential".utf8), key: \.pending)

extension MasterKeyRing {
  /// The text of a pending credential; nil only when the cryptography fails.
  func text(of pending: PendingCredential, entropy: Entropy) -> String? {
    sealedText.close(pending.json, with: self, entropy: entropy)
  }

  /// Reads the text of a pending credential that is not over; nil for anything else.
  func pendingCredential(from text: String, now: UnixTime) -> PendingCredential? {
    guard let pending = sealedText.open(text, with: self).flatMap(PendingCredential.init),
      now < pending.expiresAt
    else { return nil }
    return pending
  }
}

extension PendingCredential {
  var json: [UInt8] {
    var out = JSONWriter(reserving: 512)
    out.member("provider", identity.provider)
    out.member("sub", identity.subject.text)
    out.member("aud", audience.text)
    out.member("email", profile.email?.text)
    out.member("emailVerified", profile.isEmailVerified)
    out.member("isPrivateEmail", profile.isPrivateEmail)
    if let status = profile.realUserStatus { out.member("realUserStatus", status.rawValue) }
    if let name {
      out.object("name") { out in
        out.member("givenName", name.givenName)
        out.member("familyName", name.familyName)
        out.member("middleName", name.middleName)
        out.member("namePrefix", name.namePrefix)
        out.member("nameSuffix", name.nameSuffix)
        out.member("nickname", name.nickname)
      }
    }
    out.member("credential", credential)
    out.member("credentialExpiresAt", credentialExpiresAt.seconds)
    if let challenge { out.member("challenge", challenge) }
    out.member("exp", expiresAt.seconds)
    out.member("transferSub", transferSubject?.text)
    return out.finish()
  }

  init?(_ object: JSONObject) {
    guard let provider = object.text("provider"), let subject = object.text("sub").flatMap(Subject.init),
      let audience = object.text("aud").flatMap(ClientID.init),
      case .flag(let isEmailVerified) = object["emailVerified"],
      case .flag(let isPrivateEmail) = object["isPrivateEmail"],
      let credential = object.credential("credential"),
      case .integer(let credentialExpiresAt) = object["credentialExpiresAt"],
      case .integer(let expiresAt) = object["exp"]
    else { return nil }
    identity = ProviderIdentity(provider: provider, subject: subject)
    self.audience = audience
    let status = try? object.optionalInteger("realUserStatus")
    profile = Profile(
      email: object.text("email").flatMap(EmailAddress.init), isEmailVerified: isEmailVerified,
      isPrivateEmail: isPrivateEmail, realUserStatus: status.flatMap(RealUserStatus.init(rawValue:)))
    if case .object(let parts) = object["name"] {
      name = PersonName(
        givenName: parts.text("givenName"), familyName: parts.text("familyName"),
        middleName: parts.text("middleName"), namePrefix: parts.text("namePrefix"),
        nameSuffix: parts.text("nameSuffix"), nickname: parts.text("nickname"))
    } else {
      name = nil
    }
    self.credential = credential
    self.credentialExpiresAt = UnixTime(credentialExpiresAt)
    challenge = object.credential("challenge")
    self.expiresAt = UnixTime(expiresAt)
    transferSubject = object.text("transferSub").flatMap(Subject.init)
  }
}

extension JSONWriter {
  fileprivate mutating func member(_ name: String, _ key: CredentialKey) {
    object(name) { out in
      out.member("stamp", key.stamp.seconds)
      out.member("digest", base64URLText(key.digest))
    }
  }
}

extension JSONObject {
  fileprivate func credential(_ name: String) -> CredentialKey? {
    guard case .object(let key) = self[name], case .integer(let stamp) = key["stamp"],
      let digest = key.text("digest").flatMap({ try? decodeBase64URL($0.utf8) })
    else { return nil }
    return CredentialKey(stamp: UnixTime(stamp), digest: digest)
  }
}
