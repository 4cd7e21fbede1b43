import Crypto
import Domain
import JOSE
import Sessions
import Storage
import TestSupport
import Testing
import Wire

private let now = UnixTime(1_750_000_000)

private func load(
  _ storage: MemoryStorage, master: MasterKeyRing, _ algorithm: SignatureAlgorithm = .es256
) async throws(SigningKeyError) -> SigningKeys {
  try await settleSigningKeys(
    in: storage, known: nil, ring: master,
    rules: SigningKeyRules(algorithm: algorithm, rotation: 0, lifetime: 3600, leeway: 60), now: now,
    entropy: .system
  ).keys
}

@Suite(.timeLimit(.minutes(3)))
struct SigningKeysTests {
  @Test(arguments: SignatureAlgorithm.allCases)
  func `the first start makes a key that signs and a standby, the second finds them`(
    _ algorithm: SignatureAlgorithm
  ) async throws {
    let storage = MemoryStorage()
    let first = try await load(storage, master: ring(1), algorithm)
    #expect(first.published.map(\.role) == [.active, .standby])
    #expect(first.algorithms == [algorithm.rawValue])
    #expect(first.version == 1)
    let second = try await load(storage, master: ring(1), algorithm)
    #expect(second.keySetJSON == first.keySetJSON)
    #expect(second.certificatesJSON == first.certificatesJSON)
    #expect(second.version == 1)
    for key in first.published { #expect(key.webKey.keyID == thumbprint(of: key.webKey.key)) }
  }

  @Test func `S07 first starts at the same time agree`() async throws {
    let storage = MemoryStorage()
    let master = try ring(1)
    let sets = try await withThrowingTaskGroup(of: [UInt8].self) { group in
      for _ in 0..<8 { group.addTask { try await load(storage, master: master).keySetJSON } }
      return try await group.reduce(into: Set<[UInt8]>()) { $0.insert($1) }
    }
    #expect(sets.count == 1)
    #expect(try await storage.signingKeys().keys.count == 2)
  }

  @Test func `keys that another master key sealed are an error, and are left alone`() async throws {
    let storage = MemoryStorage()
    let first = try await load(storage, master: ring(1))
    let id = try #require(first.published.first?.webKey.keyID)
    let other = try ring(2)
    await #expect(throws: SigningKeyError.sealedByAnotherKey(id)) { try await load(storage, master: other) }
    #expect(try await load(storage, master: ring(2, 1)).keySetJSON == first.keySetJSON)
  }

  @Test func `what a master key does not open is set apart, and of its tokens nothing is said`() async throws
  {
    let (mine, theirs) = (try PrivateKey.generate(.es256), try PrivateKey.generate(.es256))
    let gone = try PrivateKey.generate(.es256)
    let before = try SigningKeys(
      opening: SigningKeyBook(
        version: 1, keys: [record(gone, role: .active), record(mine, role: .standby)]),
      with: ring(1), known: nil)
    let book = SigningKeyBook(
      version: 2, keys: [try record(mine, role: .active), try record(theirs, role: .standby, master: 2)])
    let keys = try SigningKeys(openingWhatCanBe: book, with: ring(1), known: before)
    let sealed = thumbprint(of: theirs.publicKey)
    #expect(keys.sealed == [sealed])
    #expect(keys.canSign && keys.activeID == thumbprint(of: mine.publicKey))
    #expect(keys.publicKey(thumbprint(of: gone.publicKey)) == nil)
    #expect(keys.published.count == 1)
    let rules = SessionTokenRules(
      issuer: "i", audience: "a", lifetime: 3600, leeway: 60,
      limits: SessionLimits(idle: 3600, absolute: 3600, retryWindow: 60))
    func refusal(_ key: PrivateKey) throws -> SessionTokenError? {
      let text = try signCompact(
        payload: Array("{}".utf8), key: key, keyID: thumbprint(of: key.publicKey), type: "JWT")
      do throws(SessionTokenError) {
        _ = try keys.verify(text, rules: rules, now: now)
        return nil
      } catch {
        return error
      }
    }
    #expect(try refusal(theirs) == .keyUnavailable)
    #expect(try refusal(gone) == .invalid)
    let after = SigningKeyBook(
      version: 3, keys: [try record(theirs, role: .active, master: 2), try record(mine, role: .retired)])
    let retired = try SigningKeys(openingWhatCanBe: after, with: ring(1), known: keys)
    #expect(!retired.canSign)
    #expect(retired.publicKey(thumbprint(of: mine.publicKey)) != nil)
  }

  @Test func `a key that was sealed for another row is not opened`() throws {
    let one = try record(try PrivateKey.generate(.es256), role: .active)
    let two = try record(try PrivateKey.generate(.es256), role: .standby)
    let moved = SigningKeyRecord(
      id: one.id, algorithm: one.algorithm, role: .active, createdAt: now, activeSince: nil, retiredAt: nil,
      isToRetire: false, longestLifetime: 3600, cookiesUntil: nil, sealed: two.sealed,
      masterKey: one.masterKey, certificate: "")
    let master = try ring(1)
    #expect(throws: SigningKeyError.sealedByAnotherKey(one.id)) {
      try SigningKeys(opening: SigningKeyBook(version: 1, keys: [moved]), with: master, known: nil)
    }
  }

  @Test func `a book without a key that signs is an error`() throws {
    let standby = try record(try PrivateKey.generate(.es256), role: .standby)
    let master = try ring(1)
    for keys in [[], [standby]] {
      #expect(throws: SigningKeyError.noActiveKey) {
        try SigningKeys(opening: SigningKeyBook(version: 1, keys: keys), with: master, known: nil)
      }
    }
  }

  @Test func `S08 what is published holds no private member`() async throws {
    let keys = try await load(MemoryStorage(), master: ring(1), .rs256)
    let text = String(decoding: keys.keySetJSON, as: UTF8.self)
    for member in ["d", "p", "q", "dp", "dq", "qi", "k", "oth"] { #expect(!text.contains("\"\(member)\"")) }
    #expect(!String(decoding: keys.certificatesJSON, as: UTF8.self).contains("PRIVATE"))
  }

  @Test func `every published key has a certificate of that key`() async throws {
    let keys = try await load(MemoryStorage(), master: ring(1))
    let certificates = try JSONObject(parsing: keys.certificatesJSON)
    #expect(certificates.names == keys.published.map(\.webKey.keyID.text))
    for name in certificates.names {
      #expect(certificates.text(name)?.hasPrefix("-----BEGIN CERTIFICATE-----\n") == true)
    }
  }

  @Test func `a change of algorithm adds a standby and signs on as before`() async throws {
    let storage = MemoryStorage()
    let before = try await load(storage, master: ring(1), .es256)
    let after = try await load(storage, master: ring(1), .rs256)
    #expect(after.published.map(\.role) == [.active, .standby, .standby])
    #expect(after.published.prefix(2).map(\.webKey.keyID) == before.published.map(\.webKey.keyID))
    #expect(after.algorithms == ["ES256", "RS256"])
    let back = try await load(storage, master: ring(1), .es256)
    #expect(back.keySetJSON == after.keySetJSON)
  }

  @Test func `a change opens only what is new`() async throws {
    let storage = MemoryStorage()
    let first = try await load(storage, master: ring(1))
    let book = try await storage.signingKeys()
    // Another master key opens none of them; none has to be opened again.
    let again = try SigningKeys(
      opening: SigningKeyBook(version: 2, keys: book.keys.reversed()), with: ring(2), known: first)
    #expect(again.activeID == first.activeID)
    #expect(again.version == 2)
  }

  @Test func `every key is put under the first master key once, by who has all that are in use`() async throws
  {
    let storage = MemoryStorage()
    let first = try await load(storage, master: ring(1))
    let rules = keyRules()
    func rewrap(_ ring: MasterKeyRing) async throws(SigningKeyError) -> Int {
      try await rewrapSigningKeys(in: storage, ring: ring, rules: rules, now: now, entropy: .system)
    }
    let before = try await storage.signingKeys()
    let (lacking, all) = (try ring(2), try ring(2, 1))
    await #expect(throws: SigningKeyError.sealedByAnotherKey(first.activeID)) { try await rewrap(lacking) }
    #expect(try await storage.signingKeys() == before)
    #expect(try await rewrap(all) == 2)
    #expect(try await rewrap(all) == 0)
    #expect(try await load(storage, master: ring(2)).keySetJSON == first.keySetJSON)
    #expect(try await storage.signingKeys().version == 2)
  }

  @Test func `eight that do what is due at once do it once`() async throws {
    let storage = MemoryStorage()
    let master = try ring(1)
    _ = try await load(storage, master: master)
    let later = now + 2_592_000
    let changes = try await withThrowingTaskGroup(of: [SigningKeyChange].self) { group in
      for _ in 0..<8 {
        group.addTask {
          try await settleSigningKeys(
            in: storage, known: nil, ring: master, rules: keyRules(), now: later, entropy: .system
          ).changes
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    #expect(changes.map(\.step) == [.promoted, .made])
    #expect(try await storage.signingKeys().keys.map(\.role) == [.retired, .active, .standby])
    #expect(try await storage.signingKeys().version == 2)
  }

  @Test func `S05 a token of any published key verifies`() async throws {
    let es = try PrivateKey.generate(.es256)
    let old = TokenForge.apple.key
    let master = try ring(1)
    let keys = try SigningKeys(
      opening: SigningKeyBook(version: 1, keys: [record(es, role: .active), record(old, role: .retired)]),
      with: master, known: nil)
    let claims =
      #"{"iss":"https://auth.example.com","aud":"bramley","sub":"a","iat":1750000000,"exp":1750003600,"#
      + #""auth_time":1750000000,"sid":"684ee180000000000000000000000000"}"#
    for key in [es, old] {
      let token = try signCompact(
        payload: Array(claims.utf8), key: key, keyID: thumbprint(of: key.publicKey), type: "JWT")
      #expect(try keys.verify(token, rules: rules(), now: now).claims.account.text == "a")
    }
  }
}
