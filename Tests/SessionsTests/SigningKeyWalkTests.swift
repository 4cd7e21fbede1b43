import Crypto
import Domain
import Sessions
import Storage
import TestSupport
import Testing

/// A node of the walk: settings, and a clock that is wrong by up to half the leeway and jumps.
private struct WalkingNode {
  var rules: SigningKeyRules
  var skew: Int64
}

/// What a verifier may hold against the keys.
private struct Trail {
  /// When each key was really published, by the walk's own time.
  var publishedAt: [KeyID: Int64] = [:]
  /// The latest `exp` that each key signed.
  var latestExpiry: [KeyID: Int64] = [:]
  /// Keys that may sign without having been published for long.
  var excused: Set<KeyID> = []
  var withdrawn: [KeyID: Int64] = [:]
  var promotions = 0
}

/// 1,000 days of three nodes with clocks and settings of their own, on one database.
private struct Walk {
  static let leeway: Int64 = 60
  var random: SeededGenerator
  var time: Int64 = 1_750_000_000
  var book = SigningKeyBook(version: 0, keys: [])
  var nodes: [WalkingNode]
  var trail = Trail()
  var faults: [String] = []

  init(seed: UInt64) {
    random = SeededGenerator(seed)
    let lifetimes: [Int64] = [600, 3600, 86_400]
    nodes = lifetimes.map {
      WalkingNode(rules: keyRules(rotation: 2_592_000, lifetime: $0, leeway: Self.leeway), skew: 0)
    }
  }

  mutating func run() throws {
    let end = time + 1000 * 86_400
    while time < end, faults.isEmpty { try step() }
  }

  private mutating func step() throws {
    time += Int64.random(in: 1...7200, using: &random)
    for index in nodes.indices where Int.random(in: 0..<20, using: &random) == 0 {
      // Half the leeway either way: any two differ by the leeway at most.
      nodes[index].skew = Int64.random(in: -30...30, using: &random)
    }
    if Int.random(in: 0..<3000, using: &random) == 0 { changeSettings() }
    // What the others sign with until they look again, which is within two seconds.
    let before = book
    let index = nodes.indices.randomElement(using: &random) ?? 0
    try look(index)
    if Int.random(in: 0..<2000, using: &random) == 0 { try order(index) }
    let isSettled = book == before
    for other in nodes.indices {
      if before.version > 0, !isSettled, other != index { sign(with: before, other, later: 2) }
      try look(other)
      sign(with: book, other, later: 0)
    }
    check()
  }

  private mutating func changeSettings() {
    let algorithm = SignatureAlgorithm.allCases.randomElement(using: &random) ?? .es256
    let rotation = [0, 1, 86_400, 2_592_000].randomElement(using: &random) ?? 0
    for index in nodes.indices {
      // Now and then one node is left behind with the settings of before.
      if Int.random(in: 0..<4, using: &random) == 0 { continue }
      nodes[index].rules = keyRules(
        algorithm, rotation: Int64(rotation), lifetime: nodes[index].rules.lifetime, leeway: Self.leeway)
    }
  }

  private func now(_ node: Int) -> UnixTime { UnixTime(time + nodes[node].skew) }

  private mutating func look(_ node: Int) throws {
    try write(.due(in: book, rules: nodes[node].rules, now: now(node)), node, isForced: false)
  }

  private mutating func order(_ node: Int) throws {
    let (rules, now) = (nodes[node].rules, now(node))
    switch Int.random(in: 0..<3, using: &random) {
    case 0:
      guard let plan = SigningKeyPlan.rotation(of: book, .whenReady, rules: rules, now: now) else { return }
      try write(plan, node, isForced: false)
    case 1:
      guard let plan = SigningKeyPlan.rotation(of: book, .forced, rules: rules, now: now) else { return }
      try write(plan, node, isForced: true)
    default:
      guard let key = book.keys.randomElement(using: &random),
        let plan = SigningKeyPlan.revocation(of: key.id, in: book, rules: rules, now: now)
      else { return }
      trail.latestExpiry[key.id] = nil
      try write(plan, node, isForced: true)
      // Its tokens are to be refused.
      trail.withdrawn[key.id] = nil
    }
  }

  private mutating func write(_ plan: SigningKeyPlan, _ node: Int, isForced: Bool) throws {
    guard !plan.isEmpty else { return }
    var keys = plan.keys
    for role in plan.missing {
      let key = try plannedKey(
        "k\(trail.publishedAt.count)", role, nodes[node].rules.algorithm.rawValue, created: now(node),
        lifetime: nodes[node].rules.lifetime)
      keys.append(key)
      trail.publishedAt[key.id] = time
      if role == .active { trail.excused.insert(key.id) }
    }
    for change in plan.changes {
      if change.step == .promoted { trail.promotions += 1 }
      if change.step == .promoted, isForced { trail.excused.insert(change.id) }
      if change.step == .withdrawn { trail.withdrawn[change.id] = time }
    }
    book = SigningKeyBook(version: book.version + 1, keys: keys)
  }

  private mutating func sign(with book: SigningKeyBook, _ node: Int, later: Int64) {
    guard let key = book.keys.first(where: { $0.role == .active }) else { return }
    let lifetime = nodes[node].rules.lifetime
    // A node looks before it signs for the first time with a key.
    guard key.longestLifetime >= lifetime else { return }
    // A revoked key that another node has not seen go yet signs what nobody accepts.
    guard self.book.keys.contains(where: { $0.id == key.id }) else { return }
    let expiry = time + later + nodes[node].skew + lifetime
    trail.latestExpiry[key.id] = max(trail.latestExpiry[key.id] ?? 0, expiry)
    let published = trail.publishedAt[key.id] ?? .max
    if time < published + Limits.signingKeyLead, !trail.excused.contains(key.id) {
      faults.append("\(key.id) signs \(time - published) s after its publication")
    }
  }

  private mutating func check() {
    let active = book.keys.count { $0.role == .active }
    if active != 1 { faults.append("\(active) keys sign") }
    for (index, node) in nodes.enumerated() {
      let has = book.keys.contains { $0.role == .standby && $0.algorithm == node.rules.algorithm.rawValue }
      if !has { faults.append("node \(index) has no standby") }
    }
    let slowest = time + (nodes.map(\.skew).min() ?? 0)
    for (id, since) in trail.withdrawn {
      if slowest < (trail.latestExpiry[id] ?? 0) + Self.leeway { faults.append("a token of \(id) lives on") }
      if time > since + 86_400 { trail.withdrawn[id] = nil }
    }
    if book.keys.count > 200 { faults.append("\(book.keys.count) keys are published") }
  }
}

@Suite(.timeLimit(.minutes(5)))
struct SigningKeyWalkTests {
  @Test(arguments: [1, 2] as [UInt64])
  func `three nodes with wrong clocks keep every promise for a thousand days`(_ seed: UInt64) throws {
    var walk = Walk(seed: seed)
    try walk.run()
    #expect(walk.faults == [], "seed \(seed)")
    #expect(walk.trail.promotions > 20)
  }
}
