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
    let isSpaceOrControl: (Unicode.Scalar) -> Bool = { $0.properties.isWhitespace || isUnwanted($0) }
    guard text.utf8.count <= Limits.emailBytes, signs == 1, text.utf8.first != UInt8(ascii: "@"),
      text.utf8.last != UInt8(ascii: "@"), isASCII || !text.unicodeScalars.contains(where: isSpaceOrControl)
    else { return nil }
    self.text = text
  }

  package static func == (a: EmailAddress, b: EmailAddress) -> Bool {
    a.text.utf8.elementsEqual(b.text.utf8)
  }

  /// Whether mail to both ends in one place: the case of a host's name says nothing (RFC 5321 §2.4).
  package func reachesSame(as other: EmailAddress) -> Bool {
    func lowercaseHost(_ text: String) -> [UInt8] {
      let local = text.utf8.prefix { $0 != UInt8(ascii: "@") }
      return local + text.utf8.dropFirst(local.count).map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 }
    }
    return lowercaseHost(text) == lowercaseHost(other.text)
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

  package static let empty = Profile(
    email: nil, isEmailVerified: false, isPrivateEmail: false, realUserStatus: nil)

  /// Whether mail to the address goes through a relay of the provider's: what the token says, and for an address
  /// without a token the domain that Apple gives out. Such an address names an app's view of a person, nobody else's.
  package var isRelayed: Bool {
    guard !isPrivateEmail, let email else { return isPrivateEmail }
    let folded = email.text.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
    return ["@privaterelay.appleid.com", "@private.icloud.com"].contains { domain in
      folded.suffix(domain.utf8.count).elementsEqual(domain.utf8)
    }
  }
}

/// Where an account's address came from.
package enum EmailOrigin: String, Sendable {
  /// A provider's token.
  case provider
  /// An administrator, who vouches for what he says of it.
  case administrator
  /// Another system's export: what that called verified was never verified by us.
  case imported
}

/// Whether a person still lets the app know who he is, in the words of Apple's `getCredentialState(forUserID:)`.
package enum CredentialState: String, Sendable, CaseIterable {
  case authorized
  /// Apple said that the consent is gone.
  case revoked
  /// The person is another subject by now: the app went to another team.
  case transferred
  /// There is no identity at Apple.
  case notFound
}

/// One identity of an account, and what its provider says of the person there.
package struct LinkedIdentity: Sendable, Hashable {
  package let identity: ProviderIdentity
  package var email: String?
  package var displayName: String?
  package var photoURL: String?
  /// What was last heard of the consent; a sign-in proves it anew.
  package var credentialState: CredentialState
  /// The client that the person last signed in to; nil until then.
  package var client: ClientID?
  /// Whether the provider passes mail for `email` on, as far as it said something of that.
  package var isEmailDeliverable: Bool
  /// When that happened which it last said of it.
  package var emailChangedAt: UnixTime?
  /// On its way to another developer team; nil for one that never was.
  package var transfer: IdentityTransfer?
  /// The subject that the person had at the team that the app came from.
  package var formerSubject: Subject?

  package init(
    _ identity: ProviderIdentity, email: String? = nil, displayName: String? = nil, photoURL: String? = nil,
    credentialState: CredentialState = .authorized, client: ClientID? = nil, isEmailDeliverable: Bool = true,
    emailChangedAt: UnixTime? = nil, transfer: IdentityTransfer? = nil, formerSubject: Subject? = nil
  ) {
    self.identity = identity
    self.email = email
    self.displayName = displayName
    self.photoURL = photoURL
    self.credentialState = credentialState
    self.client = client
    self.isEmailDeliverable = isEmailDeliverable
    self.emailChangedAt = emailChangedAt
    self.transfer = transfer
    self.formerSubject = formerSubject
  }

  /// Takes over the address that a newer token names. Of another one nothing was said yet.
  package mutating func take(email news: String) {
    if !(email?.utf8.elementsEqual(news.utf8) ?? true) { isEmailDeliverable = true }
    email = news
  }

  package var provider: String { identity.provider }
  package var subject: Subject { identity.subject }

  /// The developer team whose subject this is: the one that the app came from until the person is moved.
  ///
  /// - Parameters:
  ///   - present: Whose the apps are; nil when that is not known.
  ///   - former: Whose they were, during a transfer.
  package func team(among present: TeamID?, _ former: TeamID?) -> TeamID? {
    guard let present, let transfer, transfer.team == present, transfer.state != .rekeyed else {
      return present
    }
    return former ?? present
  }
}

/// An account: a person as we know them.
package struct Account: Sendable, Equatable {
  package let id: AccountID
  package let createdAt: UnixTime
  package var lastSignInAt: UnixTime
  package var isDisabled: Bool
  /// Made without anybody's identity, until one is linked.
  package var isAnonymous: Bool
  package var profile: Profile
  package var emailOrigin: EmailOrigin
  /// As the provider gave it. Nil rather than empty, so that a name can still be learnt.
  package var name: PersonName?
  /// What the person, or an administrator, put in place of the provider's name.
  package var chosenName: String?
  package var photoURL: String?
  /// Claims that an administrator adds to the account's session tokens: a JSON object.
  package var customClaims: String?
  /// When the account's sessions were last revoked. For who asks: the sessions themselves say that they are over.
  package var validSince: UnixTime?
  /// When Apple last vouched for the person: a sign-in with the identity there, or its linking. Nil for none that is known.
  package var appleSignInAt: UnixTime?
  /// Who the account is at providers; at most one subject of each.
  package var identities: [LinkedIdentity]

  package init(
    id: AccountID, createdAt: UnixTime, lastSignInAt: UnixTime, isDisabled: Bool, isAnonymous: Bool = false,
    profile: Profile, emailOrigin: EmailOrigin = .provider, name: PersonName?, chosenName: String? = nil,
    photoURL: String? = nil, customClaims: String? = nil, validSince: UnixTime? = nil,
    appleSignInAt: UnixTime? = nil, identities: [LinkedIdentity]
  ) {
    self.id = id
    self.createdAt = createdAt
    self.lastSignInAt = lastSignInAt
    self.isDisabled = isDisabled
    self.isAnonymous = isAnonymous
    self.profile = profile
    self.emailOrigin = emailOrigin
    self.name = name.flatMap { $0.isEmpty ? nil : $0 }
    self.chosenName = chosenName
    self.photoURL = photoURL
    self.customClaims = customClaims
    self.validSince = validSince
    self.appleSignInAt = appleSignInAt
    self.identities = identities
  }

  package var displayName: String? { chosenName ?? name?.displayName }

  /// The relay address under which a provider passes mail on to the person: the one that the identity names, or else the
  /// account's. Nil where the address is no relay's.
  package func relayedAddress(of linked: LinkedIdentity) -> EmailAddress? {
    guard let named = linked.email.flatMap(EmailAddress.init), named != profile.email else {
      return profile.isRelayed ? profile.email : nil
    }
    let bare = Profile(email: named, isEmailVerified: false, isPrivateEmail: false, realUserStatus: nil)
    return bare.isRelayed ? named : nil
  }

  /// The account's identity at a provider.
  package func identity(at provider: String) -> LinkedIdentity? {
    identities.first { $0.provider == provider }
  }

  /// Notes that a provider vouched for the person.
  package mutating func noteSignIn(by provider: String, at now: UnixTime) {
    guard provider == appleProviderID else { return }
    appleSignInAt = max(appleSignInAt ?? now, now)
  }

  /// Whether Apple vouched for the person after a moment: what it tells of before is over by that. Sign-ins by other ways
  /// say nothing of it.
  package func hasReturnedToApple(since moment: UnixTime) -> Bool {
    appleSignInAt.map { $0 > moment } ?? false
  }

  /// The state of the account's identity at Apple.
  package var credentialState: CredentialState {
    identity(at: appleProviderID)?.credentialState ?? .notFound
  }

  /// The state of the account's identity at Apple as the apps of a team see it: once the app has gone to the team that an
  /// identity was exported for, its subject is one of another team until it is re-keyed. Whom Apple would not name there
  /// is on no way any more: what was last heard of the consent holds.
  ///
  /// - Parameter team: Whose the apps are now; nil when that is not known.
  package func credentialState(at team: TeamID?) -> CredentialState {
    guard let team, let transfer = identity(at: appleProviderID)?.transfer, transfer.isUnderWay,
      transfer.state != .importRefused, transfer.team == team, credentialState == .authorized
    else { return credentialState }
    return .transferred
  }

  /// Whether mail to the account's address arrives, as far as the provider that relays it said something of that.
  package var isEmailDeliverable: Bool {
    guard let email = profile.email else { return false }
    return !identities.contains {
      !$0.isEmailDeliverable && ($0.email ?? email.text).utf8.elementsEqual(email.text.utf8)
    }
  }

  /// Takes over what a newer token says. Nothing is wiped by silence: a name stays as first given, an address
  /// and a status stay until the provider names another. An address that did not come from a provider stays
  /// whatever a provider says, unless it is the very one that the provider has verified, or one of a relay: nobody but
  /// the provider can vouch for that, whoever brought it.
  package mutating func learn(_ news: Profile, name given: PersonName?, at now: UnixTime) {
    lastSignInAt = max(lastSignInAt, now)
    let isTaken: Bool
    if let email = news.email {
      isTaken =
        emailOrigin == .provider || profile.email == nil || profile.isRelayed
        || (profile.email == email && news.isEmailVerified)
    } else {
      isTaken = false
    }
    if isTaken { emailOrigin = .provider }
    profile = Profile(
      email: isTaken ? news.email : profile.email,
      isEmailVerified: isTaken ? news.isEmailVerified : profile.isEmailVerified,
      isPrivateEmail: isTaken ? news.isPrivateEmail : profile.isPrivateEmail,
      realUserStatus: news.realUserStatus ?? profile.realUserStatus)
    if name == nil, let given, !given.isEmpty { name = given }
  }

  /// Whether an identity with this profile may join the account by its address alone: both verified by somebody
  /// who may say so, and neither a relay address.
  package func admits(_ news: Profile) -> Bool {
    guard let email = news.email, email == profile.email else { return false }
    return news.isEmailVerified && !news.isRelayed && profile.isEmailVerified && !profile.isRelayed
      && emailOrigin != .imported && !isAnonymous
  }
}
