package import Domain

/// Which identities at Apple are still to go which half of the way to another developer team.
package struct TransferQuery: Sendable, Equatable {
  /// One half of the way.
  package enum Half: Sendable { case toExport, toImport }

  package let half: Half
  /// The team that the app goes to.
  package let team: TeamID
  /// The team that asks; nil where there is no key of one.
  package let own: TeamID?
  /// Whether those are asked for anew whom Apple refused before.
  package let retriesRefused: Bool
  /// Whether those go out as well who are on the way to yet another team, and are so no longer then.
  package let replacesOthers: Bool

  package init(
    half: Half, team: TeamID, own: TeamID?, retriesRefused: Bool = false, replacesOthers: Bool = false
  ) {
    self.half = half
    self.team = team
    self.own = own
    self.retriesRefused = retriesRefused
    self.replacesOthers = replacesOthers
  }

  /// Whether somebody who has come so far is to be moved.
  ///
  /// Who has not come in yet is a person of the team that the app came from: ours cannot ask about him, and his transfer
  /// subject cannot be had again.
  ///
  /// - Parameter stage: Nil for one who never was on a way.
  func admits(_ stage: (state: IdentityTransfer.State, team: TeamID)?) -> Bool {
    guard let (state, team) = stage else { return half == .toExport && self.team != own }
    switch half {
    case .toImport:
      return team == self.team
        && ([.exported, .conflict].contains(state) || retriesRefused && state == .importRefused)
    case .toExport where self.team == own: return false
    case .toExport where team == self.team: return retriesRefused && state == .exportRefused
    case .toExport where team == own: return state == .rekeyed
    case .toExport: return replacesOthers || !state.isUnderWay
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
  /// What he was found by.
  package let query: TransferQuery
  package let answer: Answer
  package let now: UnixTime

  package init(subject: Subject, query: TransferQuery, answer: Answer, now: UnixTime) {
    self.subject = subject
    self.query = query
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
  /// Apple refused, and that is kept where nothing better is.
  case refused
  /// Another account has the subject already; both stay as they are.
  case conflict(AccountID)
  /// The identity went away meanwhile, or came further by other means.
  case overtaken
}

/// Decides what an answer to an export changes, inside a transaction. Asked twice at once, Apple answers alike, and the
/// second answer changes nothing. No refusal takes away what Apple gave for another team.
package func decideTransferExport(
  _ export: TransferExport, by origin: Origin, in ledger: inout some Ledger
) throws(StorageError) -> TransferOutcome {
  let identity = ProviderIdentity(provider: appleProviderID, subject: export.subject)
  let team = export.query.team
  guard let account = try ledger.account(holding: identity),
    var linked = account.identities.first(where: { $0.identity == identity }),
    export.query.retrying.admits(linked.stage)
  else { return .overtaken }
  func refuse(_ word: String) throws(StorageError) -> TransferOutcome {
    guard !(linked.transfer?.isUnderWay ?? false) else { return .refused }
    linked.transfer = IdentityTransfer(
      state: .exportRefused, team: team, subject: nil, detail: word, at: export.now)
    try ledger.update(linked)
    return .refused
  }
  switch export.answer {
  case .transferSubject(let subject):
    // Apple gives no two people one; should it, nobody may get into the other's account by it.
    if let holder = try ledger.subject(transferredAs: subject), holder != export.subject {
      return try refuse("transfer_subject_taken")
    }
    linked.transfer = IdentityTransfer(
      state: .exported, team: team, subject: subject, detail: nil, at: export.now)
    try ledger.update(linked)
    try ledger.audit(
      .appleTransferExported, by: origin, at: export.now, account: account.id, detail: team.text)
    return .moved
  case .refused(let word): return try refuse(word)
  }
}

/// Decides what an answer to an import changes, inside a transaction.
///
/// A person who signed in with the new subject before the transfer reached him has two accounts by then. They are not
/// merged: which one to keep is not for a machine to say. Both stay, the old one is marked, the newer one is known by the
/// old subject as well, and once an operator has deleted or unlinked the newer one, the next import, or the next sign-in,
/// moves the person.
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
      if var newer = holder.identities.first(where: { $0.identity == present }), newer.formerSubject == nil {
        newer.formerSubject = linked.subject
        try ledger.update(newer)
      }
      return .conflict(holder.id)
    }
    var moved = try ledger.rekey(
      linked, of: account, to: subject, naming: relayAddress, by: origin, at: arrival.now)
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
        linked, of: account, to: intent.identity.subject, naming: intent.profile.email, by: intent.origin,
        at: intent.now)
      return (moved, intent)
    }
  }
  guard intent.formerTeam != nil, let present = try ledger.subject(formerly: intent.identity.subject)
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
  /// The old team's tokens stay for one thing: to be revoked when the account is deleted. They are not revoked now, for
  /// that would take back a consent that the person gave to the app and not to a team. Codes that wait go. Sessions stay:
  /// the person is the same. To a relay address of the old team nothing can be sent any more.
  ///
  /// - Parameter address: The one that Apple names at the other team, if it does.
  /// - Returns: The account as it is now.
  mutating func rekey(
    _ linked: LinkedIdentity, of account: Account, to subject: Subject, naming address: EmailAddress?,
    by origin: Origin, at now: UnixTime
  ) throws(StorageError) -> Account {
    for grant in try appleGrants(of: linked.subject) {
      try deleteAppleGrant(grant.id)
      try insert(grant.moved(to: subject))
    }
    for var work in try appleWork(of: account.id) where work.subject == linked.subject {
      if work.kind == .exchange {
        try deleteAppleWork(work.id)
      } else {
        work.subject = subject
        try update(work)
      }
    }
    var moved = LinkedIdentity(
      ProviderIdentity(provider: linked.provider, subject: subject), email: linked.email,
      displayName: linked.displayName, photoURL: linked.photoURL, credentialState: linked.credentialState,
      client: linked.client, isEmailDeliverable: linked.isEmailDeliverable,
      emailChangedAt: linked.emailChangedAt, transfer: linked.transfer?.moved(to: .rekeyed, at: now),
      formerSubject: linked.subject)
    if let gone = account.relayedAddress(of: linked), gone != address {
      (moved.email, moved.isEmailDeliverable, moved.emailChangedAt) = (gone.text, false, nil)
    }
    try delete(linked.identity)
    try insert(moved, of: account.id)
    try audit(
      .identityRekeyed, by: origin, at: now, account: account.id, detail: linked.transfer?.team.text)
    var present = account
    present.identities = account.identities.map { $0.identity == linked.identity ? moved : $0 }
    return present
  }

  /// Puts the relay address of the new team in the place of the one of the old team, whoever brought that. An address
  /// that is no relay's stays.
  fileprivate mutating func replaceRelayAddress(
    of account: inout Account, by address: EmailAddress
  ) throws(StorageError) {
    if let place = account.identities.firstIndex(where: { $0.provider == appleProviderID }) {
      account.identities[place].take(email: address.text)
      account.identities[place].emailChangedAt = nil
      try update(account.identities[place])
    }
    guard account.profile.email == nil || account.profile.isRelayed else { return }
    account.emailOrigin = .provider
    account.profile = Profile(
      email: address, isEmailVerified: true, isPrivateEmail: true,
      realUserStatus: account.profile.realUserStatus)
    try update(account)
  }
}

extension TransferQuery {
  /// The same, when what was refused may have been answered by another run meanwhile.
  fileprivate var retrying: TransferQuery {
    TransferQuery(half: half, team: team, own: own, retriesRefused: true, replacesOthers: replacesOthers)
  }
}

extension LinkedIdentity {
  /// How far it has come, as ``TransferQuery/admits(_:)`` wants to know it.
  var stage: (state: IdentityTransfer.State, team: TeamID)? { transfer.map { ($0.state, $0.team) } }
}
