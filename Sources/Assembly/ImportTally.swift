internal import API
internal import Storage
internal import Domain

/// What an import came to, or what a trial says that it would.
package struct ImportTally: Sendable, Equatable {
  /// All that were read, those that were left out too.
  package var users = 0
  /// Made and last signed in to before the day from which on users are wanted.
  package var older = 0
  package var imported = 0
  package var present = 0
  package var linked = 0
  package var refused = 0
  /// That name an identity at Apple, and of which it cannot be read whether they do; those that are refused too.
  private var (namingApple, untold) = (0, 0)
  /// Without an identity at Apple.
  package var withoutApple = 0
  /// With a password and nothing that is known here.
  package var passwordOnly = 0
  /// With a telephone number and nothing that is known here.
  package var phoneOnly = 0
  /// With nothing to sign in with: anonymous people, and those of custom tokens.
  package var anonymous = 0
  package var relayEmails = 0
  package var disabled = 0
  package var claimsTooLarge = 0
  /// Whose address, or subject at Apple, a user before had.
  package var duplicateEmails = 0
  package var duplicateAppleIDs = 0
  package var isHalted = false

  package init() {}

  /// Whether there are users, and none of them names an identity at Apple.
  package var lacksAppleIDs: Bool { users > untold && namingApple == 0 }

  mutating func count(_ line: ExportLine) {
    users += 1
    switch line.hasAppleID {
    case true?: namingApple += 1
    case false?: break
    case nil: untold += 1
    }
    switch line.user {
    case .success(let user): count(user)
    case .failure(let refusal):
      refused += 1
      if refusal.reason == FailureReason.claimsTooLarge.rawValue { claimsTooLarge += 1 }
    }
  }

  private mutating func count(_ user: ExportedUser) {
    let account = user.account
    if !user.hasAppleID { withoutApple += 1 }
    if account.identities.isEmpty {
      switch (user.hadPassword, user.hadPhoneNumber, account.profile.email) {
      case (true, _, _): passwordOnly += 1
      case (false, true, _): phoneOnly += 1
      case (false, false, nil): anonymous += 1
      default: break
      }
    }
    if account.profile.isRelayed { relayEmails += 1 }
    if account.isDisabled { disabled += 1 }
  }

  mutating func count(_ outcome: AccountImportOutcome) {
    switch outcome {
    case .imported: imported += 1
    case .present: present += 1
    case .linked: linked += 1
    case .idTaken, .identityTaken, .emailTaken: refused += 1
    }
  }
}

/// What the users before had, as digests of eight bytes each: enough to count what comes again, and all that is kept of
/// them.
struct SeenUsers {
  private var accounts: Set<Int> = []
  private var emails: Set<Int> = []
  private var subjects: Set<Int> = []

  /// Takes a user in.
  ///
  /// - Returns: Which of its parts have been there.
  mutating func take(_ user: ExportedUser) -> (account: Bool, email: Bool, subject: Bool) {
    let account = user.account
    let apple = account.identity(at: appleProviderID)
    return (
      !accounts.insert(account.id.hashValue).inserted,
      account.profile.email.map { !emails.insert($0.hashValue).inserted } ?? false,
      apple.map { !subjects.insert($0.subject.hashValue).inserted } ?? false
    )
  }
}
