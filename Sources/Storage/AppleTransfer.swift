package import Domain

/// Which identities at Apple are still to go which half of the way to another developer team.
package struct TransferQuery: Sendable, Equatable {
  /// One half of the way.
  package enum Half: Sendable { case toExport, toImport }

  package let half: Half
  /// The team that the app goes to.
  package let team: TeamID
  /// Whether those are asked for anew whom Apple refused before.
  package let retriesRefused: Bool

  package init(half: Half, team: TeamID, retriesRefused: Bool) {
    self.half = half
    self.team = team
    self.retriesRefused = retriesRefused
  }

  /// Whether an identity is to be moved.
  func admits(_ identity: LinkedIdentity) -> Bool {
    guard identity.provider == appleProviderID else { return false }
    let transfer = identity.transfer?.team == team ? identity.transfer : nil
    return switch half {
    case .toExport: transfer == nil || retriesRefused && transfer?.state == .exportRefused
    case .toImport:
      transfer.map {
        [.exported, .conflict].contains($0.state) || retriesRefused && $0.state == .importRefused
      }
        ?? false
    }
  }
}

/// An identity that is to be moved.
package struct TransferItem: Sendable, Equatable {
  package let subject: Subject
  /// The client that the person last signed in to.
  package let client: ClientID?
  /// Nil before Apple gave one for this team.
  package let transferSubject: Subject?

  package init(subject: Subject, client: ClientID?, transferSubject: Subject?) {
    self.subject = subject
    self.client = client
    self.transferSubject = transferSubject
  }
}

/// What Apple said of a person that goes out.
package struct TransferExport: Sendable {
  /// The answer.
  package enum Answer: Sendable, Equatable {
    case transferSubject(Subject)
    /// Apple's word.
    case refused(String)
  }

  package let subject: Subject
  package let team: TeamID
  package let answer: Answer
  package let now: UnixTime

  package init(subject: Subject, team: TeamID, answer: Answer, now: UnixTime) {
    self.subject = subject
    self.team = team
    self.answer = answer
    self.now = now
  }
}

/// What Apple said of a person that comes in.
package struct TransferImport: Sendable {
  /// The answer.
  package enum Answer: Sendable, Equatable {
    /// - relayAddress: A relay address of the new team; nil when Apple names none.
    case person(Subject, relayAddress: EmailAddress?)
    /// Apple's word.
    case refused(String)
  }

  package let subject: Subject
  package let transferSubject: Subject
  package let answer: Answer
  package let now: UnixTime

  package init(subject: Subject, transferSubject: Subject, answer: Answer, now: UnixTime) {
    self.subject = subject
    self.transferSubject = transferSubject
    self.answer = answer
    self.now = now
  }
}

/// What an answer of Apple's came to.
package enum TransferOutcome: Sendable, Equatable {
  /// The identity came further.
  case moved
  /// Apple refused, and that is kept.
  case refused
  /// Another account has the subject already; both stay as they are.
  case conflict(AccountID)
  /// The identity went away meanwhile, or came further by other means.
  case overtaken
}

/// Decides what an answer to an export changes, inside a transaction. Asked twice at once, Apple answers alike, and the
/// second answer changes nothing.
package func decideTransferExport(
  _ export: TransferExport, in ledger: inout some Ledger
) throws(StorageError) -> TransferOutcome {
  let identity = ProviderIdentity(provider: appleProviderID, subject: export.subject)
  guard
    var linked = try ledger.account(holding: identity)?.identities.first(where: { $0.identity == identity })
  else { return .overtaken }
  let present = linked.transfer?.team == export.team ? linked.transfer : nil
  func refused(_ word: String) -> IdentityTransfer {
    IdentityTransfer(state: .exportRefused, team: export.team, subject: nil, detail: word, at: export.now)
  }
  switch export.answer {
  case .transferSubject(let subject):
    guard present?.subject == nil else { return .overtaken }
    // Apple gives no two people one; should it, nobody may get into the other's account by it.
    let holder = try ledger.subject(transferredAs: subject)
    let isFree = holder == nil || holder == export.subject
    linked.transfer =
      isFree
      ? IdentityTransfer(state: .exported, team: export.team, subject: subject, detail: nil, at: export.now)
      : refused("transfer_subject_taken")
    try ledger.update(linked)
    return isFree ? .moved : .refused
  case .refused(let word):
    guard present == nil || present?.state == .exportRefused else { return .overtaken }
    linked.transfer = refused(word)
    try ledger.update(linked)
    return .refused
  }
}

/// Decides what an answer to an import changes, inside a transaction.
///
/// A person who signed in with the new subject before the transfer reached him has two accounts by then. They are not
/// merged: which one to keep is not for a machine to say. Both stay, the old one is marked, and once an operator has
/// deleted or unlinked the newer one, the next import, or the next sign-in, moves the person.
package func decideTransferImport(
  _ arrival: TransferImport, by origin: Origin, in ledger: inout some Ledger
) throws(StorageError) -> TransferOutcome {
  let identity = ProviderIdentity(provider: appleProviderID, subject: arrival.subject)
  guard let account = try ledger.account(holding: identity),
    var linked = account.identities.first(where: { $0.identity == identity }),
    let transfer = linked.transfer, transfer.isUnderWay, transfer.subject == arrival.transferSubject
  else { return .overtaken }
  switch arrival.answer {
  case .refused(let word):
    linked.transfer = transfer.moved(to: .importRefused, detail: word, at: arrival.now)
    try ledger.update(linked)
    return .refused
  case .person(let subject, let relayAddress):
    let present = ProviderIdentity(provider: appleProviderID, subject: subject)
    if let holder = try ledger.account(holding: present), holder.id != account.id {
      linked.transfer = transfer.moved(to: .conflict, detail: holder.id.text, at: arrival.now)
      try ledger.update(linked)
      return .conflict(holder.id)
    }
    var moved = try ledger.rekey(linked, of: account, to: subject, by: origin, at: arrival.now)
    if let relayAddress { try ledger.replaceRelayAddress(of: &moved, by: relayAddress) }
    return .moved
  }
}

/// Whose sign-in it is, of a person whose subject nobody has: somebody that goes to another team, or went there.
///
/// Apple says who it is, by the transfer subject in a token, or by the subject that an account had; never an address.
///
/// - Returns: The account, and the sign-in as one of its own; nil for somebody new.
func decideArrival(
  _ intent: SignInIntent, in ledger: inout some Ledger
) throws(StorageError) -> (account: Account, intent: SignInIntent)? {
  guard intent.identity.provider == appleProviderID else { return nil }
  if let transferSubject = intent.transferSubject,
    let known = try ledger.subject(transferredAs: transferSubject)
  {
    let identity = ProviderIdentity(provider: appleProviderID, subject: known)
    if let account = try ledger.account(holding: identity),
      let linked = account.identities.first(where: { $0.identity == identity }),
      linked.transfer?.isUnderWay ?? false
    {
      let moved = try ledger.rekey(
        linked, of: account, to: intent.identity.subject, by: intent.origin, at: intent.now)
      return (moved, intent)
    }
  }
  guard intent.admitsFormerSubjects, let present = try ledger.subject(formerly: intent.identity.subject)
  else { return nil }
  // A token that the old team's apps got before the move: it still proves the person, and a second account would be
  // one too many. What else it says is the old team's view, which is over: its address goes nowhere, and a code beside it
  // would be exchanged only to be revoked.
  let identity = ProviderIdentity(provider: appleProviderID, subject: present)
  guard let account = try ledger.account(holding: identity) else { return nil }
  var late = intent
  late.identity = identity
  late.profile = Profile(
    email: nil, isEmailVerified: false, isPrivateEmail: false, realUserStatus: intent.profile.realUserStatus)
  late.code = nil
  return (account, late)
}

extension Ledger {
  /// Gives an identity the subject that the person has at the other team, which nobody else has.
  ///
  /// The old team's tokens, and calls to Apple that wait for them, go: that team can ask nothing more about its former
  /// apps, and revoking them would take back a consent that the person gave to the app and not to a team. Sessions stay:
  /// the person is the same.
  ///
  /// - Returns: The account as it is now.
  mutating func rekey(
    _ linked: LinkedIdentity, of account: Account, to subject: Subject, by origin: Origin, at now: UnixTime
  ) throws(StorageError) -> Account {
    for grant in try appleGrants(of: linked.subject) { try deleteAppleGrant(grant.id) }
    for work in try appleWork(of: account.id) where work.subject == linked.subject {
      try deleteAppleWork(work.id)
    }
    let moved = LinkedIdentity(
      ProviderIdentity(provider: linked.provider, subject: subject), email: linked.email,
      displayName: linked.displayName, photoURL: linked.photoURL, credentialState: linked.credentialState,
      client: linked.client, isEmailDeliverable: linked.isEmailDeliverable,
      emailChangedAt: linked.emailChangedAt, transfer: linked.transfer?.moved(to: .rekeyed, at: now),
      formerSubject: linked.subject)
    try delete(linked.identity)
    try insert(moved, of: account.id)
    try audit(
      .identityRekeyed, by: origin, at: now, account: account.id, detail: linked.transfer?.team.text)
    var present = account
    present.identities = account.identities.map { $0.identity == linked.identity ? moved : $0 }
    return present
  }

  /// Puts the relay address of the new team in the place of the one of the old team, to which nothing can be sent any
  /// more. An address that is no relay's, or that did not come from Apple, stays.
  fileprivate mutating func replaceRelayAddress(
    of account: inout Account, by address: EmailAddress
  ) throws(StorageError) {
    if let place = account.identities.firstIndex(where: { $0.provider == appleProviderID }) {
      account.identities[place].take(email: address.text)
      account.identities[place].emailChangedAt = nil
      try update(account.identities[place])
    }
    guard account.emailOrigin == .provider, account.profile.email == nil || account.profile.isRelayed else {
      return
    }
    account.profile = Profile(
      email: address, isEmailVerified: true, isPrivateEmail: true,
      realUserStatus: account.profile.realUserStatus)
    try update(account)
  }
}
