import Domain
import Sessions
import Storage
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(3)))
struct AuditChainTests {
  private let storage = MemoryStorage()
  private let chain: AuditChain

  init() throws { chain = AuditChain(storage: storage, ring: try ring(1)) }

  private func write(_ count: Int, at time: Int64 = 1) async throws {
    for number in 0..<count {
      try await storage.append(
        AuditEntry(
          at: UnixTime(time), action: .signedIn, actor: "person", account: AccountID(unchecked: "a\(number)"),
          session: nil, address: [192, 0, 2, 1], requestID: "r\(number)", detail: nil))
    }
  }

  private func entry(_ detail: String) -> AuditEntry {
    AuditEntry(
      at: UnixTime(1), action: .signedIn, actor: "person", account: nil, session: nil, address: [],
      requestID: nil, detail: detail)
  }

  @Test func `lines are chained in portions, and the whole is intact`() async throws {
    #expect(try await chain.seal() == false)
    #expect(try await chain.verify() == .intact(sealed: 0, unsealed: 0))
    try await write(25)
    #expect(try await chain.verify() == .intact(sealed: 0, unsealed: 25))
    #expect(try await chain.seal(limit: 10))
    #expect(try await chain.seal(limit: 10))
    #expect(try await chain.seal(limit: 10) == false)
    #expect(try await chain.verify() == .intact(sealed: 25, unsealed: 0))
    try await write(3)
    #expect(try await chain.verify() == .intact(sealed: 25, unsealed: 3))
  }

  @Test func `two nodes that chain at once make one chain`() async throws {
    try await write(300)
    let (chain, other) = (chain, AuditChain(storage: storage, ring: try ring(1)))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for node in [chain, other, chain, other] {
        group.addTask { for _ in 0..<60 { _ = try await node.seal(limit: 10) } }
      }
      try await group.waitForAll()
    }
    #expect(try await chain.verify() == .intact(sealed: 300, unsealed: 0))
  }

  @Test func `a line that was changed, taken away or added breaks the chain`() async throws {
    try await write(10)
    _ = try await chain.seal()
    let lines = try await storage.audit(AuditQuery(after: 0, account: nil, limit: 20))
    let head = try #require(try await storage.auditChain().head)
    // A copy with the third line told otherwise, in the same place.
    let forged = MemoryStorage()
    for (index, line) in lines.enumerated() {
      try await forged.append(index == 2 ? entry("changed") : line.entry)
    }
    _ = try await forged.sealAudit(expecting: nil, digests: lines.compactMap(\.digest), head: head)
    #expect(
      try await AuditChain(storage: forged, ring: ring(1)).verify()
        == .broken([AuditFault(.lineChanged, at: 3)]))
    // A copy without the last line, though the head says that there is one.
    let short = MemoryStorage()
    for line in lines.dropLast() { try await short.append(line.entry) }
    try await short.append(entry("another"))
    _ = try await short.sealAudit(expecting: nil, digests: lines.compactMap(\.digest), head: head)
    #expect(
      try await AuditChain(storage: short, ring: ring(1)).verify()
        == .broken([AuditFault(.lineChanged, at: 10)]))
  }

  @Test func `an end that no key of ours signed is forged, and one of a key that is gone cannot be told`()
    async throws
  {
    try await write(3)
    _ = try await chain.seal()
    let head = try #require(try await storage.auditChain().head)
    #expect(try await AuditChain(storage: storage, ring: ring(2)).verify() == .keyMissing(head.masterKey))
    #expect(
      try await AuditChain(storage: storage, ring: ring(2, 1)).verify() == .intact(sealed: 3, unsealed: 0))
    let forged = AuditSeal(
      position: head.position, digest: head.digest, code: [UInt8](repeating: 0, count: 32),
      masterKey: head.masterKey)
    let lines = try await storage.audit(AuditQuery(after: 0, account: nil, limit: 20))
    let copy = MemoryStorage()
    for line in lines { try await copy.append(line.entry) }
    _ = try await copy.sealAudit(expecting: nil, digests: lines.compactMap(\.digest), head: forged)
    #expect(
      try await AuditChain(storage: copy, ring: ring(1)).verify()
        == .broken([AuditFault(.headForged, at: 3)]))
  }

  @Test func `an end that names another key than the one that made its code is forged, not without its key`()
    async throws
  {
    try await write(3)
    _ = try await chain.seal()
    let ends = try await storage.auditChain()
    let head = try #require(ends.head)
    let renamed = AuditSeal(
      position: head.position, digest: head.digest, code: head.code,
      masterKey: try #require(MasterKeyID([UInt8](repeating: 7, count: 8))))
    #expect(
      try await storage.resealAudit(
        expecting: ends, with: AuditChainState(anchor: nil, head: renamed)))
    let fault = AuditFault(.headForged, at: 3)
    #expect(try await chain.verify() == .broken([fault]))
    #expect(try await chain.fault() == fault)
    #expect(try await AuditChain(storage: storage, ring: ring(2)).verify() == .keyMissing(renamed.masterKey))
  }

  @Test func `lines that should be chained for long, and heads from before the anchor, are told`()
    async throws
  {
    try await write(2, at: 100)
    #expect(try await chain.verify(at: UnixTime(160)) == .intact(sealed: 0, unsealed: 2))
    #expect(try await chain.overdue(at: UnixTime(160)) == nil)
    #expect(try await chain.verify(at: UnixTime(161)) == .notChained(sealed: 0, unsealed: 2, from: 1))
    #expect(try await chain.overdue(at: UnixTime(161)) == 1)
    var told: [AuditWitness] = []
    while try await chain.seal(limit: 1, witness: { told.append($0) }) {}
    #expect(try await chain.verify(at: UnixTime(161)) == .intact(sealed: 2, unsealed: 0))
    #expect(try await chain.overdue(at: UnixTime(161)) == nil)
    while try await chain.forget(before: UnixTime(150)) {}
    let (first, last) = (try #require(told.first), try #require(told.last))
    #expect(try await chain.verify(against: [last]) == .intact(sealed: 0, unsealed: 0))
    #expect(try await chain.verify(against: [first]) == .notCompared(first, begin: 3))
  }

  @Test func `one end cannot stand in for the other, though its code is right`() async throws {
    try await write(10, at: 100)
    _ = try await chain.seal()
    while try await chain.forget(before: UnixTime(150), limit: 4) {}
    try await write(2, at: 200)
    _ = try await chain.seal()
    let ends = try await storage.auditChain()
    let (anchor, head) = (try #require(ends.anchor), try #require(ends.head))
    #expect(anchor.position == 10)
    #expect(head.position == 12)
    let swaps = [
      (AuditChainState(anchor: head, head: head), AuditFault(.anchorForged, at: 12)),
      (AuditChainState(anchor: anchor, head: anchor), AuditFault(.headForged, at: 10)),
    ]
    for (swapped, fault) in swaps {
      #expect(try await storage.resealAudit(expecting: ends, with: swapped))
      #expect(try await chain.verify() == .broken([fault]))
      #expect(try await chain.fault() == fault)
      #expect(try await storage.resealAudit(expecting: swapped, with: ends))
    }
    #expect(try await chain.verify() == .intact(sealed: 2, unsealed: 0))
  }

  @Test func `nothing is chained behind an older head or forgotten, and new lines are still written`()
    async throws
  {
    try await write(3)
    _ = try await chain.seal()
    let older = try await storage.auditChain()
    try await write(3)
    _ = try await chain.seal()
    let ends = try await storage.auditChain()
    #expect(try await storage.resealAudit(expecting: ends, with: older))
    try await write(2)
    let fault = AuditFault(.headOutdated, at: 4)
    #expect(try await chain.fault() == fault)
    #expect(try await chain.seal() == false)
    #expect(try await chain.forget(before: UnixTime(100)) == false)
    try await chain.reseal()
    #expect(try await storage.auditChain() == older)
    #expect(try await chain.verify() == .broken([fault]))
    #expect(try await storage.audit(AuditQuery(after: 0, account: nil, limit: 20)).count == 8)
  }

  @Test func `the ends are signed anew with the first master key, and the one before is not needed any more`()
    async throws
  {
    try await write(4, at: 100)
    _ = try await chain.seal()
    while try await chain.forget(before: UnixTime(150), limit: 2) {}
    let old = try await storage.auditChain()
    try await chain.reseal()
    #expect(try await storage.auditChain() == old)
    let both = AuditChain(storage: storage, ring: try ring(2, 1))
    try await both.reseal()
    let renewed = try await storage.auditChain()
    #expect(renewed.endsByMasterKey.values.map { $0 } == [2])
    #expect(renewed.endsByMasterKey != old.endsByMasterKey)
    let new = AuditChain(storage: storage, ring: try ring(2))
    #expect(try await new.verify() == .intact(sealed: 0, unsealed: 0))
    // Who lacks the new key changes nothing.
    try await chain.reseal()
    #expect(try await storage.auditChain() == renewed)
  }

  @Test func `each new head is told, and a chain that differs from what was told is broken there`()
    async throws
  {
    var told: [AuditWitness] = []
    try await write(5)
    while try await chain.seal(limit: 2, witness: { told.append($0) }) {}
    #expect(told.map(\.position) == [2, 4, 5])
    let read = told.compactMap { AuditWitness("\($0)") }
    #expect(read == told)
    #expect(try await chain.verify(against: told) == .intact(sealed: 5, unsealed: 0))
    let other = MemoryStorage()
    for number in 0..<3 { try await other.append(entry("another \(number)")) }
    let shorter = AuditChain(storage: other, ring: try ring(1))
    _ = try await shorter.seal()
    let verdict = try await shorter.verify(against: told)
    #expect(verdict == .broken([2, 4, 5].map { AuditFault(.witnessDiffers, at: $0) }))
  }

  @Test(arguments: [
    "", ":", "1", "0:" + zeros, "-1:" + zeros, "01:" + zeros, "+1:" + zeros, "1:" + zeros + "0",
    "1:" + zeros.dropLast(2), "1:" + zeros.dropLast(), "1:" + zeros.dropLast() + "A", "1:" + zeros + ":",
    "9223372036854775808:" + zeros,
  ])
  func `a witness is read in one form only`(_ text: String) {
    #expect(AuditWitness(text) == nil)
    #expect(AuditWitness("1:" + zeros)?.position == 1)
  }

  @Test func `words that a newer node writes are chained as they stand`() async throws {
    try await storage.append(
      AuditEntry(
        at: UnixTime(1), action: AuditAction(rawValue: "taught_to_fly"), actor: "person", account: nil,
        session: nil, address: [], requestID: nil, detail: nil))
    try await write(1)
    _ = try await chain.seal()
    #expect(try await chain.verify() == .intact(sealed: 2, unsealed: 0))
  }

  @Test func `what is forgotten leaves an anchor, and the rest stays intact`() async throws {
    try await write(10, at: 100)
    try await write(5, at: 200)
    #expect(try await chain.forget(before: UnixTime(150)) == false, "nothing is sealed yet")
    _ = try await chain.seal()
    #expect(try await chain.forget(before: UnixTime(150), limit: 4))
    #expect(try await chain.verify() == .intact(sealed: 11, unsealed: 0))
    while try await chain.forget(before: UnixTime(150), limit: 4) {}
    #expect(try await chain.verify() == .intact(sealed: 5, unsealed: 0))
    while try await chain.forget(before: UnixTime(300)) {}
    #expect(try await chain.verify() == .intact(sealed: 0, unsealed: 0))
    try await write(2, at: 300)
    _ = try await chain.seal()
    #expect(try await chain.verify() == .intact(sealed: 2, unsealed: 0))
    #expect(
      try await storage.audit(AuditQuery(after: 0, account: nil, limit: 5)).map(\.entry.position) == [16, 17])
  }
}

extension AuditChain {
  /// Forgets as a service does that has seen nothing before.
  func forget(before time: UnixTime, limit: Int = 500) async throws(StorageError) -> Bool {
    var memory = AuditMemory()
    return try await forget(before: time, limit: limit, memory: &memory) == .more
  }
}

private let zeros = String(repeating: "0", count: 64)
