import Crypto
import Domain
import Sessions
import Storage
import Testing

/// When everything begins.
private let start = UnixTime(1_750_000_000)

private let lead = Limits.signingKeyLead

func keyRules(
  _ algorithm: SignatureAlgorithm = .es256, rotation: Int64 = 2_592_000, lifetime: Int64 = 3600,
  leeway: Int64 = 60
) -> SigningKeyRules {
  SigningKeyRules(algorithm: algorithm, rotation: rotation, lifetime: lifetime, leeway: leeway)
}

/// A record without a key in it: plans do not look inside.
func plannedKey(
  _ name: String, _ role: SigningKeyRole, _ algorithm: String = "ES256", created: UnixTime = start,
  active: UnixTime? = nil, retired: UnixTime? = nil, isToRetire: Bool = false, lifetime: Int64 = 3600,
  cookiesUntil: UnixTime? = nil
) throws -> SigningKeyRecord {
  SigningKeyRecord(
    id: KeyID(unchecked: name), algorithm: algorithm, role: role, createdAt: created,
    activeSince: active ?? (role == .active ? created : nil), retiredAt: retired, isToRetire: isToRetire,
    longestLifetime: lifetime, cookiesUntil: cookiesUntil, sealed: [], masterKey: try masterKey(1).id,
    certificate: "")
}

private func book(_ keys: SigningKeyRecord...) -> SigningKeyBook { SigningKeyBook(version: 1, keys: keys) }

extension SigningKeyPlan {
  /// What is done, in short: `+` a promotion, `-` a withdrawal, and the roles that are to be filled.
  fileprivate var summary: String {
    (changes.map { ($0.step == .promoted ? "+" : "-") + $0.id.text } + missing.map(\.rawValue))
      .joined(separator: " ")
  }

  fileprivate func role(_ name: String) -> SigningKeyRole? { keys.first { $0.id.text == name }?.role }
}

@Suite struct SigningKeyPlanTests {
  @Test func `S02 a key waits longer than anybody keeps a key set, and than nodes take to notice`() {
    #expect(Limits.keySetMaxAge + Limits.signingKeyNotice <= Limits.signingKeyLead)
  }

  @Test func `without keys the first signs at once, and a standby is published`() {
    let plan = SigningKeyPlan.due(
      in: SigningKeyBook(version: 0, keys: []), rules: keyRules(), now: start)
    #expect(plan.missing == [.active, .standby])
  }

  @Test(
    arguments: [
      // Age of the active key, age of the standby, rotation, what is done.
      (0, 0, 2_592_000, ""), (2_591_999, 2_000_000, 2_592_000, ""),
      (2_592_000, 2_000_000, 2_592_000, "+b standby"),
      (9_999_999, 9_999_999, 0, ""),
      // Not before every verifier has it, by every clock.
      (2_592_000, 1859, 2_592_000, ""), (2_592_000, 1860, 2_592_000, "+b standby"), (2_592_000, 0, 1, ""),
      (1860, 1860, 1, "+b standby"),
      // A clock went back: what lies ahead has not begun.
      (-500_000, -500_000, 1, ""), (9_999_999, -1, 1, ""),
    ] as [(Int64, Int64, Int64, String)])
  func `the next key signs when its time has come`(
    _ activeAge: Int64, _ standbyAge: Int64, _ rotation: Int64, _ expected: String
  ) throws {
    let now = start + 100_000_000
    let plan = SigningKeyPlan.due(
      in: try book(
        plannedKey("a", .active, created: now - activeAge),
        plannedKey("b", .standby, created: now - standbyAge)
      ),
      rules: keyRules(rotation: rotation), now: now)
    #expect(plan.summary == expected)
    #expect(plan.isEmpty == expected.isEmpty)
  }

  @Test func `a promotion says since when, and the key before is retired`() throws {
    let now = start + 2_592_000
    let plan = SigningKeyPlan.due(
      in: try book(plannedKey("a", .active, isToRetire: true), plannedKey("b", .standby)), rules: keyRules(),
      now: now)
    #expect(plan.role("a") == .retired && plan.role("b") == .active)
    #expect(plan.keys[0].retiredAt == now && plan.keys[1].activeSince == now)
    #expect(!plan.keys[0].isToRetire)
  }

  @Test func `a missing standby is made, whatever else there is`() throws {
    let plan = SigningKeyPlan.due(
      in: try book(plannedKey("a", .active), plannedKey("b", .standby)), rules: keyRules(.rs256), now: start)
    #expect(plan.summary == "standby")
    #expect(plan.role("b") == .standby)
  }

  @Test(
    arguments: [
      // Seconds since the active key of the other algorithm began, age of the standby, what is done.
      (0, 0, ""), (1799, 9000, ""), (1800, 1859, ""), (1800, 1860, "+r standby"),
    ] as [(Int64, Int64, String)])
  func `another algorithm signs when its key has been published and the present one has signed a while`(
    _ activeAge: Int64, _ standbyAge: Int64, _ expected: String
  ) throws {
    let now = start + 1_000_000
    let plan = SigningKeyPlan.due(
      in: try book(
        plannedKey("a", .active, created: start, active: now - activeAge), plannedKey("b", .standby),
        plannedKey("r", .standby, "RS256", created: now - standbyAge)),
      rules: keyRules(.rs256, rotation: 0), now: now)
    #expect(plan.summary == expected)
    #expect(plan.role("b") == .standby)
  }

  @Test(
    arguments: [
      // Lifetime, end of cookies, when it may go: the notice, thrice the leeway (a signer ahead, the
      // verifier's own, a verifier behind) and the token.
      (3600, nil, 3600 + 182), (86_400, nil, 86_400 + 182), (3600, 500_000, 500_000 + 120),
      (3600, 10, 3600 + 182),
    ] as [(Int64, Int64?, Int64)])
  func `S02 a retired key stays until the last token that it signed has expired everywhere`(
    _ lifetime: Int64, _ cookies: Int64?, _ end: Int64
  ) throws {
    let keys = try book(
      plannedKey("a", .retired, retired: start, lifetime: lifetime, cookiesUntil: cookies.map { start + $0 }),
      plannedKey("b", .active, created: start + end), plannedKey("c", .standby, created: start + end))
    let rules = keyRules(rotation: 0)
    #expect(SigningKeyPlan.due(in: keys, rules: rules, now: start + (end - 1)).isEmpty)
    #expect(SigningKeyPlan.due(in: keys, rules: rules, now: start - 1_000_000).isEmpty)
    #expect(SigningKeyPlan.due(in: keys, rules: rules, now: start + end).summary == "-a")
  }

  @Test func `a node whose tokens live longer says so before it signs`() throws {
    let keys = try book(
      plannedKey("a", .active), plannedKey("b", .standby), plannedKey("c", .retired, retired: start))
    let plan = SigningKeyPlan.due(in: keys, rules: keyRules(lifetime: 7200), now: start)
    #expect(plan.keys.map(\.longestLifetime) == [7200, 7200, 3600])
    #expect(!plan.isEmpty && plan.changes.isEmpty && plan.missing.isEmpty)
    #expect(SigningKeyPlan.due(in: keys, rules: keyRules(lifetime: 600), now: start).isEmpty)
  }

  @Test func `without a key that signs the next one does, of any algorithm`() throws {
    let wanted = try book(plannedKey("r", .standby, "RS256"), plannedKey("b", .standby))
    #expect(SigningKeyPlan.due(in: wanted, rules: keyRules(), now: start).summary == "+b standby")
    let other = try book(plannedKey("r", .standby, "RS256"))
    #expect(SigningKeyPlan.due(in: other, rules: keyRules(), now: start).summary == "+r standby")
  }
}

@Suite struct SigningKeyOrderTests {
  private func pair(isToRetire: Bool = false) throws -> SigningKeyBook {
    try book(plannedKey("a", .active, isToRetire: isToRetire), plannedKey("b", .standby))
  }

  @Test func `a rotation is done at once when the next key may sign`() throws {
    for urgency in [RotationUrgency.whenReady, .now, .forced] {
      let plan = try SigningKeyPlan.rotation(
        of: pair(), urgency, rules: keyRules(), now: start + (lead + 60))
      #expect(plan?.summary == "+b standby")
    }
  }

  @Test func `a rotation too early waits, is refused, or is forced`() throws {
    let now = start + (lead + 59)
    let waiting = try #require(
      try SigningKeyPlan.rotation(of: pair(), .whenReady, rules: keyRules(), now: now))
    #expect(waiting.keys == (try pair(isToRetire: true)).keys)
    #expect(try SigningKeyPlan.rotation(of: pair(), .now, rules: keyRules(), now: now) == nil)
    let forced = try SigningKeyPlan.rotation(of: pair(), .forced, rules: keyRules(), now: now)
    #expect(forced?.summary == "+b standby")
    #expect(try SigningKeyPlan.readyAt(in: pair(), rules: keyRules()) == now + 1)
  }

  @Test func `the next rotation is foretold, and comes no sooner and no later`() throws {
    func foretold(_ book: SigningKeyBook, _ rules: SigningKeyRules) throws -> UnixTime? {
      let time = SigningKeyPlan.nextRotation(in: book, rules: rules)
      if let time {
        #expect(SigningKeyPlan.due(in: book, rules: rules, now: time - 1).isEmpty)
        #expect(SigningKeyPlan.due(in: book, rules: rules, now: time).changes.first?.step == .promoted)
      }
      return time
    }
    #expect(try foretold(pair(), keyRules()) == start + 2_592_000)
    // Not before the next may sign.
    #expect(try foretold(pair(), keyRules(rotation: 60)) == start + (lead + 60))
    #expect(try foretold(pair(isToRetire: true), keyRules(rotation: 0)) == start + (lead + 60))
    #expect(try foretold(pair(), keyRules(rotation: 0)) == nil)
    #expect(try foretold(book(plannedKey("a", .active)), keyRules()) == nil)
  }

  @Test func `what waits is done by whoever looks when the time has come, and once`() throws {
    let waiting = try pair(isToRetire: true)
    let rules = keyRules(rotation: 0)
    #expect(SigningKeyPlan.due(in: waiting, rules: rules, now: start + 1859).isEmpty)
    let plan = SigningKeyPlan.due(in: waiting, rules: rules, now: start + 1860)
    #expect(plan.summary == "+b standby")
    #expect(plan.keys.allSatisfy { !$0.isToRetire })
  }

  @Test func `a forced rotation without a next key makes one that signs`() throws {
    let plan = try SigningKeyPlan.rotation(of: pair(), .forced, rules: keyRules(.rs256), now: start)
    #expect(plan?.missing == [.active, .standby])
    #expect(plan?.role("a") == .retired && plan?.role("b") == .standby)
  }

  @Test(arguments: [("a", "-a +b standby"), ("b", "-b standby"), ("c", "-c")])
  func `a revoked key is gone at once, and what it did is done by another`(
    _ id: String, _ expected: String
  ) throws {
    let keys = try book(
      plannedKey("a", .active), plannedKey("b", .standby), plannedKey("c", .retired, retired: start))
    let plan = SigningKeyPlan.revocation(of: KeyID(unchecked: id), in: keys, rules: keyRules(), now: start)
    #expect(plan?.summary == expected)
    #expect(plan?.role(id) == nil)
  }

  @Test func `the last key that is revoked has a new one follow it, and one that is not there nothing`()
    throws
  {
    let keys = try book(plannedKey("a", .active))
    let plan = SigningKeyPlan.revocation(of: KeyID(unchecked: "a"), in: keys, rules: keyRules(), now: start)
    #expect(plan?.summary == "-a active standby")
    #expect(
      SigningKeyPlan.revocation(of: KeyID(unchecked: "A"), in: keys, rules: keyRules(), now: start) == nil)
  }
}
