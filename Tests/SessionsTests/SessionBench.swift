import Crypto
import Domain
import JOSE
import Sessions
import Storage
import TestSupport
import Testing
import Wire

/// Somebody at no address.
let person = Origin(actor: .person)

let zeroEntropy = Entropy { [UInt8](repeating: 0, count: $0) }

func masterBytes(_ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte, count: 32) }

func masterKey(_ byte: UInt8) throws -> MasterKey { try MasterKey(Secret(masterBytes(byte))) }

func ring(_ current: UInt8, _ others: UInt8...) throws -> MasterKeyRing {
  MasterKeyRing(current: try masterKey(current), others: try others.map { try masterKey($0) })
}

/// A stored key as the first start writes it, but of a private key that the test knows.
///
/// - Parameter cookiesUntil: As if session cookies had been signed that live as long.
func record(
  _ key: PrivateKey, role: SigningKeyRole, master: UInt8 = 1, cookiesUntil: UnixTime? = nil
) throws -> SigningKeyRecord {
  let id = thumbprint(of: key.publicKey)
  let seal = SealingKey(try deriveKey(from: masterBytes(master), purpose: "bramley signing key seal v1"))
  return SigningKeyRecord(
    id: id, algorithm: key.algorithm.rawValue, role: role, createdAt: UnixTime(1), activeSince: nil,
    retiredAt: nil, isToRetire: false, longestLifetime: 3600, cookiesUntil: cookiesUntil,
    sealed: try seal.seal(key.pkcs8().reveal(), context: Array(id.text.utf8), entropy: .system),
    masterKey: try masterKey(master).id, certificate: "certificate")
}

func rules(
  issuer: String = "https://auth.example.com", audience: String = "bramley", lifetime: Int64 = 3600,
  idle: Int64 = 2_592_000, absolute: Int64 = 31_536_000, retryWindow: Int64 = 120
) -> SessionTokenRules {
  SessionTokenRules(
    issuer: issuer, audience: audience, lifetime: lifetime, leeway: 60,
    limits: SessionLimits(idle: idle, absolute: absolute, retryWindow: retryWindow))
}

/// An issuer over memory with a clock that moves by hand, and the private key that it signs with.
struct SessionBench {
  let clock: ManualClock
  let storage: MemoryStorage
  let rules: SessionTokenRules
  let key: PrivateKey
  let keys: SigningKeys
  let issuer: SessionIssuer

  init(
    _ rules: SessionTokenRules = SessionsTests.rules(), ring: MasterKeyRing? = nil, key: PrivateKey? = nil,
    clock: ManualClock = ManualClock(), storage: MemoryStorage = MemoryStorage(),
    entropy: Entropy = .seeded(1), linking: AccountLinking = .off, maximum: Int = 0
  ) throws {
    self.clock = clock
    self.storage = storage
    self.rules = rules
    let signer = try key ?? PrivateKey.generate(.es256)
    self.key = signer
    keys = try SigningKeys(
      opening: SigningKeyBook(
        version: 1, keys: [record(signer, role: .active, cookiesUntil: UnixTime(.max))]),
      with: MasterKeyRing(current: masterKey(1), others: []), known: nil)
    issuer = SessionIssuer(
      rules: rules, recentLoginWindow: 300, linking: linking,
      openingRules: SessionOpeningRules(maximum: maximum),
      watch: SessionWatch(storage: storage, clock: clock.steady), storage: storage,
      ring: try ring ?? SessionsTests.ring(1),
      keys: keys, teams: DeveloperTeams(present: nil, former: nil),
      clock: clock.wall, entropy: entropy)
  }

  /// The payload of a token of this bench.
  func payload(_ token: Secret<String>) throws -> [UInt8] {
    try CompactToken(parsing: token.reveal().utf8).payload
  }

  func claims(_ token: Secret<String>) throws -> JSONObject { try JSONObject(parsing: payload(token)) }

  /// A token with exactly this header and these claims, signed with the key that signs.
  func forge(
    header: String? = nil, claims: String, by signer: PrivateKey? = nil
  ) throws -> String {
    let header =
      header
      ?? "{\"alg\":\"\(key.algorithm.rawValue)\",\"kid\":\"\(thumbprint(of: key.publicKey))\",\"typ\":\"JWT\"}"
    let signed = base64URLText(header.utf8) + "." + base64URLText(claims.utf8)
    return signed + "." + base64URLText(try (signer ?? key).sign(Array(signed.utf8)))
  }

  /// A request as the API makes it.
  func request(
    subject: String = AppleClaims.subject, email: String? = "ada@example.com", name: PersonName? = nil,
    digest: UInt8 = 1, issuedAt: UnixTime? = nil, isTooOld: Bool = false, nonce: String = "nonce",
    demandsChallenge: Bool = false, link: SessionTokenClaims? = nil
  ) throws -> SignInRequest {
    let issuedAt = issuedAt ?? clock.now
    return SignInRequest(
      identity: ProviderIdentity(provider: "apple.com", subject: try #require(Subject(subject))),
      audience: ClientID(unchecked: AppleClaims.audience),
      profile: Profile(
        email: email.flatMap(EmailAddress.init), isEmailVerified: true, isPrivateEmail: false,
        realUserStatus: nil),
      name: name, device: nil, tokenDigest: [UInt8](repeating: digest, count: 32), tokenIssuedAt: issuedAt,
      tokenExpiresAt: issuedAt + 86_400, isTokenTooOld: isTooOld, rawNonce: nonce,
      demandsChallenge: demandsChallenge,
      link: link)
  }
}

extension SessionIssuer {
  /// Signs in whoever it is.
  func signIn(_ request: SignInRequest) async throws(SessionRefusal) -> IssuedSession {
    try await signIn(request, createsAccount: true, by: person)
  }

  func signIn(_ request: SignInRequest, createsAccount: Bool) async throws(SessionRefusal) -> IssuedSession {
    try await signIn(request, createsAccount: createsAccount, by: person)
  }

  func signIn(
    _ request: PendingSignInRequest, createsAccount: Bool
  ) async throws(SessionRefusal) -> IssuedSession {
    try await signIn(request, createsAccount: createsAccount, by: person)
  }

  func signIn(with token: CustomToken, createsAccount: Bool) async throws(SessionRefusal) -> IssuedSession {
    try await signIn(with: token, createsAccount: createsAccount, by: person)
  }

  func openAnonymousSession() async throws(SessionRefusal) -> IssuedSession {
    try await openAnonymousSession(by: person)
  }

  func change(
    _ change: AccountChange, of claims: SessionTokenClaims
  ) async throws(SessionRefusal) -> AccountChangeOutcome {
    try await self.change(change, of: claims, by: person)
  }

  func deleteAccount(of claims: SessionTokenClaims) async throws(SessionRefusal) {
    try await deleteAccount(of: claims, by: person)
  }

  func refresh(
    _ token: RefreshToken
  ) async throws(SessionRefusal) -> (session: IssuedSession, remark: RefreshRemark?) {
    try await refresh(token, by: person)
  }

  /// Reads a refresh token and trades it.
  func refresh(
    _ text: String
  ) async throws(SessionRefusal) -> (session: IssuedSession, remark: RefreshRemark?) {
    try await refresh(refreshToken(from: text))
  }
}

/// Why no session was given; nil when one was.
func refusal(_ body: () async throws -> some Sendable) async -> SessionRefusal? {
  do {
    _ = try await body()
    return nil
  } catch {
    return error as? SessionRefusal
  }
}

extension SessionBench {
  /// Puts an account there that has an identity at Apple.
  @discardableResult
  func register(
    _ id: String, subject: String = AppleClaims.subject, email: String? = nil, name: PersonName? = nil,
    customClaims: String? = nil, others: [LinkedIdentity] = []
  ) async throws -> Account {
    let apple = ProviderIdentity(provider: "apple.com", subject: try #require(Subject(subject)))
    let account = Account(
      id: try #require(AccountID(id)), createdAt: clock.now, lastSignInAt: clock.now, isDisabled: false,
      profile: Profile(
        email: email.flatMap(EmailAddress.init), isEmailVerified: true, isPrivateEmail: false,
        realUserStatus: nil),
      name: name, customClaims: customClaims, identities: [LinkedIdentity(apple)] + others)
    let outcomes = try await storage.create(
      [account], sharingEmails: true, areImported: false, by: person, at: clock.now)
    try #require(outcomes == [.created])
    return account
  }

  /// Changes an account as an administrator does.
  func administer(_ account: AccountID, _ change: AccountChange) async throws {
    let outcome = try await storage.change(
      AccountChangeIntent(target: .administered(account), change: change, origin: person, now: clock.now))
    guard case .changed = outcome else {
      Issue.record("not changed: \(outcome)")
      return
    }
  }
}
