/// What Apple tells of a person without being asked, in the words that it has for it.
package enum AppleChange: String, Sendable, CaseIterable {
  /// The person lets no mail through the relay any more.
  case emailDisabled = "email-disabled"
  case emailEnabled = "email-enabled"
  /// The person takes back the consent to let the app know who he is.
  case consentRevoked = "consent-revoked"
  /// The account at Apple is gone for good; older notifications spell it `account-delete`.
  case accountDeleted = "account-deleted"

  /// Whether it is about an address and not about the person.
  package var isOfAddress: Bool {
    switch self {
    case .emailDisabled, .emailEnabled: true
    case .consentRevoked, .accountDeleted: false
    }
  }

  /// Reads either spelling of each word.
  package init?(word: String) {
    self.init(rawValue: word == "account-delete" ? AppleChange.accountDeleted.rawValue : word)
  }
}

/// One event of a notification that Apple signed.
package enum AppleEvent: Sendable, Equatable {
  /// - email: The address that it is about, where it names one.
  case change(AppleChange, of: Subject, at: UnixTime, email: String? = nil)
  /// Of a type that is not known here.
  ///
  /// - type: A word of letters, digits, `-`, `_` and `.`, at most ``Limits/eventTypeBytes`` bytes.
  /// - outline: JSON: its type, when it happened, and what its members are called. None of what they say: that may be
  ///   about a person, and nobody would know whom to forget it with.
  case unknown(type: String, outline: String)
}

/// What becomes of an account whose person has no account at Apple any more.
package enum AppleDeletionPolicy: String, Sendable, CaseIterable {
  /// It goes, with everything that is known of the person.
  case delete
  /// It stays under its id, without name, address and photo.
  case anonymise
  /// It stays as it is; only what is known of the identity changes.
  case keep
}
