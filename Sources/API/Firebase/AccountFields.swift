internal import Domain
internal import Sessions
internal import Storage
internal import Wire

// Fields of an account as bodies in Firebase's form bring them.
extension FirebaseBody {
  /// There are no tenants here: whoever names one expects another server.
  func refuseTenant() throws(Failure) {
    if try text("tenantId") != nil { throw Failure(.unsupportedTenantOperation) }
  }

  /// Refuses what this server has no use for: a password that is taken and dropped would be a lie.
  func refuse(_ names: [String], as reason: FailureReason) throws(Failure) {
    for name in names where isSet(name) { throw Failure(reason, field: name) }
  }

  /// Whether a field holds something; empty text is a field that is missing.
  private func isSet(_ name: String) -> Bool {
    guard has(name) else { return false }
    do throws(Failure) {
      return try text(name) != nil
    } catch {
      // Of another type, or in both spellings: there is something.
      return true
    }
  }

  func localID() throws(Failure) -> AccountID? {
    guard let text = try text("localId") else { return nil }
    return try accountID(text, field: "localId")
  }

  /// Providers to be taken off an account.
  func removedProviders() throws(Failure) -> [String] {
    var providers: [String] = []
    for text in try texts("deleteProvider") {
      providers.append(try providerID(text, field: "deleteProvider"))
    }
    return providers
  }

  /// An address that an administrator gives or asks for; in lower case, as Firebase keeps them.
  func email() throws(Failure) -> EmailAddress? {
    guard let text = try text("email") else { return nil }
    guard let email = EmailAddress(asciiLowercase(text)) else { throw Failure(.invalidEmail, field: "email") }
    return email
  }

  /// A name for display; what nobody can see clears it.
  func displayName() throws(Failure) -> Change<String> {
    try change("displayName") { text in cleanedText(text).map { .set($0) } ?? .clear }
  }

  /// The address of a photo: http or https, without spaces and controls.
  func photoURL() throws(Failure) -> Change<String> {
    try change("photoUrl") { (text) throws(Failure) in
      guard text.utf8.count <= Limits.urlBytes else { throw Failure(.fieldTooLong, field: "photoUrl") }
      guard isPhotoAddress(text) else { throw Failure(.fieldInvalid, field: "photoUrl") }
      return .set(text)
    }
  }

  /// As ``displayName()``, but null clears too.
  func mergedDisplayName() throws(Failure) -> Change<String> {
    isNull("displayName") ? .clear : try displayName()
  }

  /// As ``photoURL()``, but null clears too.
  func mergedPhotoURL() throws(Failure) -> Change<String> {
    isNull("photoUrl") ? .clear : try photoURL()
  }

  /// An address of mail; null and empty text clear it.
  func mergedEmail() throws(Failure) -> Change<EmailAddress> {
    if isNull("email") { return .clear }
    guard has("email") else { return .keep }
    return try email().map { .set($0) } ?? .clear
  }

  /// Claims that an administrator adds to an account's tokens, as an object; null and `{}` clear them.
  func customClaims() throws(Failure) -> Change<String> {
    if isNull("customClaims") { return .clear }
    guard let object = try object("customClaims") else { return .keep }
    return try claims(from: object.jsonText).map { .set($0) } ?? .clear
  }

  /// Claims that an administrator adds to an account's tokens; `{}` clears them.
  func customAttributes() throws(Failure) -> Change<String> {
    try change("customAttributes") { (text) throws(Failure) in
      guard let claims = try claims(from: text) else { return .clear }
      return .set(claims)
    }
  }

  /// The identities of an account, at most one of each provider.
  ///
  /// - Parameter name: The field that holds them.
  func identities(_ name: String) throws(Failure) -> [LinkedIdentity] {
    var identities: [LinkedIdentity] = []
    for body in try objects(name) {
      // An address and a telephone number are no identities at a provider.
      guard let identity = try body.linkedIdentity() else { continue }
      guard !identities.contains(where: { $0.provider == identity.provider }) else {
        throw Failure(.duplicateRawID, field: name)
      }
      identities.append(identity)
    }
    guard identities.count <= 20 else { throw Failure(.fieldTooLong, field: name) }
    return identities
  }

  func linkedIdentity() throws(Failure) -> LinkedIdentity? {
    guard let named = try text("providerId") else { throw Failure(.fieldMissing, field: "providerId") }
    let provider = try providerID(named, field: "providerId")
    if provider == "phone" || provider == "password" { return nil }
    let (rawID, federatedID) = (try text("rawId"), try text("federatedId"))
    guard let raw = rawID ?? federatedID else {
      throw Failure(.fieldMissing, field: "rawId")
    }
    guard let subject = Subject(raw) else { throw Failure(.fieldInvalid, field: "rawId") }
    return LinkedIdentity(
      ProviderIdentity(provider: provider, subject: subject),
      email: try text("email", atMost: Limits.emailBytes).flatMap(EmailAddress.init)?.text,
      displayName: try text("displayName").flatMap { cleanedText($0) },
      photoURL: try text("photoUrl").flatMap { isPhotoAddress($0) ? $0 : nil })
  }

  /// Absent keeps, empty clears.
  private func change(
    _ name: String, _ read: (String) throws(Failure) -> Change<String>
  ) throws(Failure) -> Change<String> {
    guard has(name) else { return .keep }
    guard let text = try text(name) else { return .clear }
    return try read(text)
  }
}

private func claims(from text: String) throws(Failure) -> String? {
  do {
    return try customClaims(from: text)
  } catch {
    throw Failure(refusing: error)
  }
}

/// A provider's name, of an alphabet in which equal is equal byte by byte; in lower case.
func providerID(_ text: String, field: String) throws(Failure) -> String {
  let isPlain = text.utf8.allSatisfy { byte in
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"): true
    default: false
    }
  }
  guard isPlain, (1...128).contains(text.utf8.count) else { throw Failure(.fieldInvalid, field: field) }
  return asciiLowercase(text)
}

private func isPhotoAddress(_ text: String) -> Bool {
  text.utf8.count <= Limits.urlBytes && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
    && ["https://", "http://"].contains { asciiLowercase(text).hasPrefix($0) }
}

func accountID(_ text: String, field: String) throws(Failure) -> AccountID {
  guard let id = AccountID(text) else { throw Failure(.fieldInvalid, field: field) }
  return id
}
