import Domain
import SQLiteStorage
import Storage
import Testing

/// When most of what is tested happens.
let start = UnixTime(1_800_000_000)
let firstKey = masterKey(1)
let secondKey = masterKey(2)
let limits = SessionLimits(idle: 86_400, absolute: 864_000, retryWindow: 60)

/// Somebody at an address, by a request.
let person = Origin(actor: .person, address: [192, 0, 2, 1], requestID: "request-1")

private func masterKey(_ byte: UInt8) -> MasterKeyID {
  guard let key = MasterKeyID(Array(repeating: byte, count: MasterKeyID.byteCount)) else {
    preconditionFailure("as many bytes as it takes")
  }
  return key
}

/// A storage, and short words for what is asked of it.
struct Desk: Sendable {
  let storage: any LedgerStorage
  let entropy: Entropy

  init(storage: any LedgerStorage, seed: UInt64 = 1) {
    self.storage = storage
    entropy = .seeded(seed)
  }

  func intent(
    _ subject: String = "001.alice", provider: String = appleProviderID, credential: Int = 1,
    at now: UnixTime = start, name: PersonName? = nil, profile: Profile = .plain, device: Device? = nil,
    challenge: Int? = nil, objection: SignInObjection? = nil, link: SessionBearer? = nil,
    createsAccount: Bool = true, linking: AccountLinking = .off, isPending: Bool = false,
    maximum: Int = 0
  ) -> SignInIntent {
    SignInIntent(
      identity: ProviderIdentity(provider: provider, subject: Subject(unchecked: subject)), profile: profile,
      name: name,
      device: device, credential: .numbered(credential), credentialExpiresAt: start + 86_400,
      challenge: challenge.map { .numbered(1_000_000 + $0) }, objection: objection, link: link,
      linking: linking, isPending: isPending,
      createsAccount: createsAccount, newAccount: AccountID(from: entropy),
      newSession: SessionID(at: now, from: entropy), masterKey: firstKey,
      rules: SessionOpeningRules(maximum: maximum), origin: person, retryWindow: 60, now: now)
  }

  /// Signs in and must get a session.
  @discardableResult
  func arrive(
    _ subject: String = "001.alice", credential: Int = 1, at now: UnixTime = start, name: PersonName? = nil,
    profile: Profile = .plain, device: Device? = nil, challenge: Int? = nil
  ) async throws -> (grant: SessionGrant, isNewUser: Bool) {
    let outcome = try await storage.signIn(
      intent(
        subject, credential: credential, at: now, name: name, profile: profile, device: device,
        challenge: challenge))
    return try #require(outcome.signedIn)
  }

  func refresh(
    _ session: SessionID, _ counter: UInt32, at now: UnixTime = start, masterKey: MasterKeyID = firstKey
  ) async throws -> RefreshOutcome {
    try await storage.refresh(
      RefreshIntent(
        session: session, counter: counter, masterKey: masterKey, limits: limits, origin: person, now: now))
  }
}

extension SignInOutcome {
  var signedIn: (grant: SessionGrant, isNewUser: Bool)? {
    guard case .signedIn(let grant, let isNewUser) = self else { return nil }
    return (grant, isNewUser)
  }
}

extension RefreshOutcome {
  var session: Session? {
    guard case .current(let grant, _) = self else { return nil }
    return grant.session
  }

  var remark: RefreshRemark? {
    guard case .current(_, let remark) = self else { return nil }
    return remark
  }
}

extension CredentialKey {
  static func numbered(_ number: Int, stamp: UnixTime = start) -> CredentialKey {
    let digest = (0..<32).map { UInt8(truncatingIfNeeded: number >> (8 * ($0 % 4))) }
    return CredentialKey(stamp: stamp, digest: digest)
  }
}

extension Profile {
  static let plain = Profile(email: nil, isEmailVerified: false, isPrivateEmail: false, realUserStatus: nil)

  static func email(_ text: String, isPrivate: Bool = false) -> Profile {
    Profile(
      email: EmailAddress(text), isEmailVerified: true, isPrivateEmail: isPrivate, realUserStatus: .likelyReal
    )
  }
}

// Rows put there directly, to arrange what no intention does yet.
extension LedgerStorage {
  func insert(_ account: Account) async throws {
    try await transact { (book) throws(StorageError) in
      try book.insert(account)
      for identity in account.identities { try book.insert(identity, of: account.id) }
    }
  }

  func update(_ account: Account) async throws {
    try await transact { (book) throws(StorageError) in try book.update(account) }
  }

  func insert(_ session: Session) async throws {
    try await transact { (book) throws(StorageError) in try book.insert(session) }
  }

  func insert(_ spent: SpentCredential) async throws {
    try await transact { (book) throws(StorageError) in try book.insert(spent) }
  }

  func insert(_ identity: LinkedIdentity, of account: AccountID) async throws {
    try await transact { (book) throws(StorageError) in try book.insert(identity, of: account) }
  }

  func session(_ id: SessionID) async throws -> Session? {
    try await transact { (book) throws(StorageError) in try book.session(id) }
  }

  func spentCredential(_ key: CredentialKey) async throws -> SpentCredential? {
    try await transact { (book) throws(StorageError) in try book.spentCredential(key) }
  }

  func disable(_ account: AccountID) async throws {
    try await transact { (book) throws(StorageError) in
      guard var found = try book.account(account) else { throw .corrupt }
      found.isDisabled = true
      try book.update(found)
    }
  }

  func end(_ session: SessionID, as end: SessionEnd, at now: UnixTime = start) async throws {
    try await transact { (book) throws(StorageError) in
      guard var found = try book.session(session) else { throw .corrupt }
      found.finish(as: end, at: now)
      try book.update(found)
    }
  }
}

extension Account {
  /// An account without identities, as an import or an anonymous sign-in makes it.
  static func bare(_ id: String, at time: UnixTime = start, isAnonymous: Bool = false) -> Account {
    Account(
      id: AccountID(unchecked: id), createdAt: time, lastSignInAt: time, isDisabled: false,
      isAnonymous: isAnonymous, profile: .plain, name: nil,
      identities: [])
  }
}

extension Session {
  static func bare(
    _ number: UInt8, of account: AccountID, at time: UnixTime = start, rotatedAt: UnixTime? = nil,
    masterKey: MasterKeyID = firstKey
  ) -> Session {
    let id = SessionID(at: time, from: Entropy { Array(repeating: number, count: $0) })
    return Session(
      id: id, account: account, provider: "anonymous", createdAt: time, device: nil, masterKey: masterKey,
      rotatedAt: rotatedAt ?? time)
  }
}
