internal import Domain
internal import Wire

extension Account {
  /// The account as Firebase's SDKs read one. What is not known is left out, since some of them take null or an empty
  /// text for a value; 64-bit numbers are text.
  ///
  /// - Parameter lastUse: When a session of it was last refreshed, for administrators.
  func userRecord(lastUse: UnixTime? = nil) -> [UInt8] {
    var out = JSONWriter(reserving: 1024)
    out.member("localId", id.text)
    out.profile(of: self)
    if isDisabled { out.member("disabled", true) }
    out.member("customAttributes", customClaims)
    // A token of an account that had the same id before is older than this one.
    out.member("validSince", String((validSince ?? createdAt).seconds))
    out.member("createdAt", milliseconds(createdAt))
    // Who never signed in has no time of it: zero would be refused.
    if lastSignInAt.seconds > 0 { out.member("lastLoginAt", milliseconds(lastSignInAt)) }
    if let lastUse { out.member("lastRefreshAt", timestamp(ofSeconds: lastUse.seconds)) }
    return out.finish()
  }
}

extension JSONWriter {
  /// What an account shows of the person.
  mutating func profile(of account: Account) {
    if let email = account.profile.email {
      member("email", email.text)
      member("emailVerified", account.profile.isEmailVerified)
    }
    member("displayName", account.displayName)
    member("photoUrl", account.photoURL)
    guard !account.identities.isEmpty else { return }
    member("providerUserInfo", jsonArray: account.identities.map { $0.providerUserInfo(of: account) })
  }
}

extension LinkedIdentity {
  /// The subject stands there twice: the mobile SDKs read `federatedId`, the others `rawId`.
  fileprivate func providerUserInfo(of account: Account) -> [UInt8] {
    var out = JSONWriter(reserving: 256)
    out.member("providerId", provider)
    out.member("rawId", subject.text)
    out.member("federatedId", subject.text)
    out.member("email", email)
    out.member("displayName", displayName ?? (provider == appleProviderID ? account.name?.displayName : nil))
    out.member("photoUrl", photoURL)
    return out.finish()
  }
}

/// A time as Firebase writes one, as text since it is a 64-bit number.
func milliseconds(_ time: UnixTime) -> String { String(time.seconds) + "000" }
