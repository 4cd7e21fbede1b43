/// An address that a provider's token named, plausible enough to be kept.
///
/// One `@` with something on both sides, no spaces, controls, quotes, brackets or commas, at most
/// ``Limits/emailBytes`` bytes: it can be put into a mail header or a JSON string without surprise.
package struct EmailAddress: Hashable, Sendable {
  package let text: String

  package init?(_ text: String) {
    var signs = 0
    var isASCII = true
    for byte in text.utf8 {
      switch byte {
      case 0...0x20, 0x7F: return nil
      case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "("),
        UInt8(ascii: ")"), UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: ","), UInt8(ascii: ";"),
        UInt8(ascii: ":"):
        return nil
      case UInt8(ascii: "@"): signs += 1
      case 0x80...: isASCII = false
      default: break
      }
    }
    let isSpaceOrControl: (Unicode.Scalar) -> Bool = {
      $0.properties.isWhitespace || (0x80...0x9F).contains($0.value)
    }
    guard text.utf8.count <= Limits.emailBytes, signs == 1, text.utf8.first != UInt8(ascii: "@"),
      text.utf8.last != UInt8(ascii: "@"), isASCII || !text.unicodeScalars.contains(where: isSpaceOrControl)
    else { return nil }
    self.text = text
  }

  package static func == (a: EmailAddress, b: EmailAddress) -> Bool {
    a.text.utf8.elementsEqual(b.text.utf8)
  }

  package func hash(into hasher: inout Hasher) {
    for byte in text.utf8 { hasher.combine(byte) }
  }
}

/// Apple's guess whether a real person sits there; a number it may add later counts as unknown.
package enum RealUserStatus: Int64, Sendable {
  case unsupported = 0
  case unknown = 1
  case likelyReal = 2
}

/// What a provider's token says about a person, apart from who it is.
package struct Profile: Sendable, Equatable {
  package let email: EmailAddress?
  package let isEmailVerified: Bool
  /// True only where Apple said so; absence is "not known to be a relay address".
  package let isPrivateEmail: Bool
  package let realUserStatus: RealUserStatus?

  package init(
    email: EmailAddress?, isEmailVerified: Bool, isPrivateEmail: Bool, realUserStatus: RealUserStatus?
  ) {
    self.email = email
    self.isEmailVerified = isEmailVerified
    self.isPrivateEmail = isPrivateEmail
    self.realUserStatus = realUserStatus
  }
}

/// An account: a person as we know them.
package struct Account: Sendable, Equatable {
  package let id: AccountID
  package let createdAt: UnixTime
  package var lastSignInAt: UnixTime
  package var isDisabled: Bool
  package var profile: Profile
  /// Nil rather than empty, so that a name can still be learnt.
  package var name: PersonName?
  /// Who the account is at providers; at most one subject of each.
  package var identities: [ProviderIdentity]

  package init(
    id: AccountID, createdAt: UnixTime, lastSignInAt: UnixTime, isDisabled: Bool, profile: Profile,
    name: PersonName?, identities: [ProviderIdentity]
  ) {
    self.id = id
    self.createdAt = createdAt
    self.lastSignInAt = lastSignInAt
    self.isDisabled = isDisabled
    self.profile = profile
    self.name = name.flatMap { $0.isEmpty ? nil : $0 }
    self.identities = identities
  }

  /// Takes over what a newer token says. Nothing is wiped by silence: a name stays as first given, an address
  /// and a status stay until the provider names another.
  package mutating func learn(_ news: Profile, name given: PersonName?, at now: UnixTime) {
    lastSignInAt = max(lastSignInAt, now)
    profile = Profile(
      email: news.email ?? profile.email,
      isEmailVerified: news.email == nil ? profile.isEmailVerified : news.isEmailVerified,
      isPrivateEmail: news.email == nil ? profile.isPrivateEmail : news.isPrivateEmail,
      realUserStatus: news.realUserStatus ?? profile.realUserStatus)
    if name == nil, let given, !given.isEmpty { name = given }
  }
}
