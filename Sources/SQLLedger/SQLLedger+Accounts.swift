package import Domain
package import Storage

extension SQLLedger {
  package mutating func account(_ id: AccountID) throws(StorageError) -> Account? {
    if let known = known?.accounts[id] { return known }
    var rows = AccountRows()
    try statements.accountByID.each { slots in
      slots.add(id.text)
    } _: { (row: inout Row) throws(StorageError) in
      try rows.take(&row)
    }
    return rows.accounts.first
  }

  package mutating func account(holding identity: ProviderIdentity) throws(StorageError) -> Account? {
    if let holder = known?.holders[identity] {
      guard let holder else { return nil }
      return try account(holder)
    }
    var rows = AccountRows()
    try statements.accountHoldingIdentity.each { slots in
      slots.add(identity.provider)
      slots.add(identity.subject.text)
    } _: { (row: inout Row) throws(StorageError) in
      try rows.take(&row)
    }
    return rows.accounts.first
  }

  package mutating func accounts(after position: Int64, limit: Int) throws(StorageError) -> AccountPage {
    try page(statements.accountsAfter, from: position, limit: limit)
  }

  package mutating func accounts(before position: Int64, limit: Int) throws(StorageError) -> AccountPage {
    try page(statements.accountsBefore, from: position, limit: limit)
  }

  private func page(
    _ statement: Statement, from position: Int64, limit: Int
  ) throws(StorageError) -> AccountPage {
    guard limit > 0 else { return AccountPage(accounts: [], next: nil) }
    var rows = AccountRows()
    try statement.each { slots in
      slots.add(position)
      // One more than asked for tells whether there is a next page.
      slots.add(Int64(limit) + 1)
    } _: { (row: inout Row) throws(StorageError) in
      try rows.take(&row)
    }
    guard rows.accounts.count > limit else { return AccountPage(accounts: rows.accounts, next: nil) }
    return AccountPage(
      accounts: Array(rows.accounts.prefix(limit)), next: AccountCursor(position: rows.numbers[limit - 1]))
  }

  package mutating func accounts(holding email: EmailAddress) throws(StorageError) -> [Account] {
    var rows = AccountRows()
    try statements.accountsHoldingEmail.each { slots in
      slots.add(email.text)
      slots.add(Int64(Limits.accountsOfOneEmail))
    } _: { (row: inout Row) throws(StorageError) in
      try rows.take(&row)
    }
    return rows.accounts
  }

  package mutating func accounts(
    in order: AccountOrder, offset: Int, limit: Int
  ) throws(StorageError) -> [Account] {
    let bind: (inout Slots) -> Void = { slots in
      slots.add(order.field.rawValue)
      slots.add(Int64(limit))
      slots.add(Int64(offset))
    }
    var rows = AccountRows()
    let take: (inout Row) throws(StorageError) -> Void = { (row) throws(StorageError) in try rows.take(&row) }
    if order.isDescending {
      try statements.accountsDescending.each(bind, take)
    } else {
      try statements.accountsAscending.each(bind, take)
    }
    return rows.accounts
  }

  package mutating func accountCount() throws(StorageError) -> Int {
    let count = try statements.accountCount.first { (row: inout Row) throws(StorageError) in
      try row.number()
    }
    return try required(count.flatMap { Int(exactly: $0) })
  }

  package mutating func insert(_ account: Account) throws(StorageError) {
    try statements.insertAccount.run { slots in
      slots.add(account.id.text)
      slots.add(account.createdAt)
      slots.addChanging(account)
      slots.add(statements.nextAccountNumber())
    }
    known?.note(account, isNew: true)
  }

  package mutating func update(_ account: Account) throws(StorageError) {
    try statements.updateAccount.runOnOneRow { slots in
      slots.add(account.id.text)
      slots.addChanging(account)
    }
    known?.note(account, isNew: false)
  }

  package mutating func delete(_ account: AccountID) throws(StorageError) {
    try statements.deleteAccount.runOnOneRow { $0.add(account.text) }
    known?.forget()
  }

  package mutating func insert(
    _ identity: LinkedIdentity, of account: AccountID
  ) throws(StorageError) {
    try statements.insertIdentity.runOnOneRow { slots in
      slots.add(account.text)
      slots.add(identity)
    }
    known?.note(identity, of: account)
  }

  package mutating func update(_ identity: LinkedIdentity) throws(StorageError) {
    try statements.updateIdentity.runOnOneRow { $0.add(identity) }
    known?.note(identity)
  }

  package mutating func delete(_ identity: ProviderIdentity) throws(StorageError) {
    try statements.deleteIdentity.runOnOneRow { slots in
      slots.add(identity.provider)
      slots.add(identity.subject.text)
    }
    known?.forget()
  }
}

extension SQLSlots {
  /// What may change in an account's life, in the order in which both of its statements name it.
  fileprivate mutating func addChanging(_ account: Account) {
    add(account.lastSignInAt)
    add(account.isDisabled)
    add(account.isAnonymous)
    add(account.profile.email?.text)
    add(account.profile.isEmailVerified)
    add(account.profile.isPrivateEmail)
    add(account.profile.realUserStatus?.rawValue)
    add(account.emailOrigin.rawValue)
    add(account.name?.givenName)
    add(account.name?.familyName)
    add(account.name?.middleName)
    add(account.name?.namePrefix)
    add(account.name?.nameSuffix)
    add(account.name?.nickname)
    add(account.chosenName)
    add(account.photoURL)
    add(account.customClaims)
    add(account.validSince)
    add(account.appleSignInAt)
  }

  /// An identity, in the order in which its statements name it.
  fileprivate mutating func add(_ identity: LinkedIdentity) {
    add(identity.provider)
    add(identity.subject.text)
    add(identity.email)
    add(identity.displayName)
    add(identity.photoURL)
    add(identity.credentialState.rawValue)
    add(identity.client?.text)
    add(identity.isEmailDeliverable)
    add(identity.emailChangedAt)
    add(identity.transfer?.state.rawValue)
    add(identity.transfer?.team.text)
    add(identity.transfer?.subject?.text)
    add(identity.transfer?.detail)
    add(identity.transfer?.at)
    add(identity.formerSubject?.text)
  }
}

/// Accounts out of rows of a join: one row an identity, those of one account in a row.
struct AccountRows {
  var accounts: [Account] = []
  var numbers: [Int64] = []

  mutating func take(_ row: inout some SQLRow) throws(StorageError) {
    let number = try row.number()
    let account = try row.account()
    if number != numbers.last {
      numbers.append(number)
      accounts.append(account)
    }
    guard let provider = try row.optionalText() else { return }
    let identity = ProviderIdentity(provider: provider, subject: try row.identifier())
    accounts[accounts.count - 1].identities.append(
      LinkedIdentity(
        identity, email: try row.optionalText(), displayName: try row.optionalText(),
        photoURL: try row.optionalText(),
        credentialState: try required(CredentialState(rawValue: row.text())),
        client: try row.optionalIdentifier(), isEmailDeliverable: try row.flag(),
        emailChangedAt: try row.optionalTime(), transfer: try row.transfer(),
        formerSubject: try row.optionalIdentifier()))
  }
}

extension SQLRow {
  fileprivate mutating func account() throws(StorageError) -> Account {
    Account(
      id: try identifier(), createdAt: try time(), lastSignInAt: try time(), isDisabled: try flag(),
      isAnonymous: try flag(), profile: try profile(),
      emailOrigin: try required(EmailOrigin(rawValue: text())),
      name: try name(), chosenName: try optionalText(), photoURL: try optionalText(),
      customClaims: try optionalText(), validSince: try optionalTime(),
      appleSignInAt: try optionalTime(), identities: [])
  }

  fileprivate mutating func transfer() throws(StorageError) -> IdentityTransfer? {
    let state = try optionalText()
    let team: TeamID? = try optionalIdentifier()
    let subject: Subject? = try optionalIdentifier()
    let detail = try optionalText()
    let moment = try optionalTime()
    guard let state else { return nil }
    return IdentityTransfer(
      state: try required(IdentityTransfer.State(rawValue: state)), team: try required(team),
      subject: subject, detail: detail, at: try required(moment))
  }

  private mutating func profile() throws(StorageError) -> Profile {
    let email = try optionalText().map { (text) throws(StorageError) in try required(EmailAddress(text)) }
    return Profile(
      email: email, isEmailVerified: try flag(), isPrivateEmail: try flag(),
      realUserStatus: try optionalNumber().map { (number) throws(StorageError) in
        try required(RealUserStatus(rawValue: number))
      })
  }

  private mutating func name() throws(StorageError) -> PersonName? {
    let name = PersonName(
      givenName: try optionalText(), familyName: try optionalText(), middleName: try optionalText(),
      namePrefix: try optionalText(), nameSuffix: try optionalText(), nickname: try optionalText())
    return name.isEmpty ? nil : name
  }
}
