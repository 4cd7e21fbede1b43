package import Domain
package import Sessions
package import Storage
package import Wire

// Accounts, sessions and signing keys in our own form: as routes answer them, and as commands print them.

extension AccountKey {
  /// What an administrator may mean by an address: as a provider wrote it, and as one that an administrator gave is
  /// kept. Nothing for what is no address.
  package static func spellings(ofEmail text: String) -> [AccountKey] {
    [text, asciiLowercase(text)].compactMap { EmailAddress($0) }.map(AccountKey.email)
  }
}

extension Account {
  /// The account. Times are seconds since 1970; what is not known is left out.
  ///
  /// - Parameters:
  ///   - team: Whose the apps are; nil where there is no key of a team.
  ///   - further: Adds members at the end.
  package func json(
    at team: TeamID?, _ further: (inout JSONWriter) -> Void = { _ in }
  ) -> [UInt8] {
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
      out.member("isEmailDeliverable", isEmailDeliverable)
    }
    out.member("displayName", displayName)
    out.member("firstName", name?.givenName)
    out.member("lastName", name?.familyName)
    out.member("fullName", name?.fullName)
    out.member("photoUrl", photoURL)
    if let status = profile.realUserStatus { out.member("realUserStatus", status.rawValue) }
    if let customClaims { out.member("customClaims", json: Array(customClaims.utf8)) }
    out.member("credentialState", credentialState(at: team).rawValue)
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
    out.member("formerSubject", formerSubject?.text)
    out.member("email", email)
    return out.finish()
  }
}

extension Session {
  /// The session as its owner, or an administrator, sees it. Times are seconds since 1970.
  ///
  /// - Parameter isCurrent: Whether it is the one that asks; nil where none does.
  package func json(limits: SessionLimits, isCurrent: Bool?) -> [UInt8] {
    var out = JSONWriter(reserving: 256)
    out.member("sessionId", id.description)
    out.member("createdAt", createdAt.seconds)
    out.member("lastUsedAt", rotatedAt.seconds)
    out.member("expiresAt", min(rotatedAt + limits.idle, createdAt + limits.absolute).seconds)
    out.member("current", isCurrent)
    out.member("provider", provider)
    if let device {
      out.object("device") { out in
        out.member("name", device.name)
        out.member("model", device.model)
        out.member("os", device.os)
        out.member("appVersion", device.appVersion)
      }
    }
    return out.finish()
  }
}

extension AppleGrant {
  /// That a refresh token of Apple's is kept, without the token. Times are seconds since 1970.
  package var json: [UInt8] {
    var out = JSONWriter(reserving: 128)
    out.member("clientId", client.text)
    out.member("obtainedAt", obtainedAt.seconds)
    if let checkedAt { out.member("checkedAt", checkedAt.seconds) }
    out.member("nextCheckAt", dueAt.seconds)
    return out.finish()
  }
}

extension AppleWork {
  /// A call to Apple that waits, without what is sent. Times are seconds since 1970.
  package var json: [UInt8] {
    var out = JSONWriter(reserving: 256)
    out.member("id", id.description)
    out.member("kind", kind.rawValue)
    out.member("localId", account.text)
    out.member("clientId", client.text)
    out.member("createdAt", createdAt.seconds)
    out.member("dueAt", dueAt.seconds)
    out.member("attempts", Int64(attempts))
    out.member("fault", fault)
    return out.finish()
  }
}

extension SigningKeyBook {
  /// The signing keys without their private parts, and what else hangs on each master key.
  package func json(
    liveSessions: [MasterKeyID: Int], auditEnds: [MasterKeyID: Int], appleSecrets: [MasterKeyID: Int],
    rules: SigningKeyRules
  ) -> [UInt8] {
    var out = JSONWriter(reserving: 512 * (keys.count + 1))
    out.member("signingKeys", jsonArray: keys.map { $0.json(leeway: rules.leeway) })
    if let time = SigningKeyPlan.nextRotation(in: self, rules: rules) {
      out.member("nextRotationAt", time.seconds)
    }
    for (name, counts) in [
      ("liveSessionsByMasterKey", liveSessions), ("auditEndsByMasterKey", auditEnds),
      ("appleSecretsByMasterKey", appleSecrets),
    ] {
      out.object(name) { out in
        for (id, count) in counts.sorted(by: { $0.key.description < $1.key.description }) {
          out.member(id.description, Int64(count))
        }
      }
    }
    return out.finish()
  }
}

extension SigningKeyRecord {
  fileprivate func json(leeway: Int64) -> [UInt8] {
    var out = JSONWriter()
    out.member("kid", id.text)
    out.member("alg", algorithm)
    out.member("role", role.rawValue)
    out.member("createdAt", createdAt.seconds)
    if let time = activeSince { out.member("activeSince", time.seconds) }
    if let time = retiredAt { out.member("retiredAt", time.seconds) }
    if let time = publishedUntil(leeway: leeway) { out.member("publishedUntil", time.seconds) }
    if role == .standby { out.member("readyAt", readyAt(leeway: leeway).seconds) }
    if isToRetire { out.member("rotationRequested", true) }
    out.member("masterKey", masterKey.description)
    return out.finish()
  }
}
