import Domain
import Sessions
import Storage
import TestSupport
import Testing

/// That lines are forgotten which were chained, and no others.
@Suite(.timeLimit(.minutes(3)))
struct AuditForgettingTests {
  private func entry(_ detail: Int, at time: Int64) -> AuditEntry {
    AuditEntry(
      at: UnixTime(time), action: .signedIn, actor: "person", account: nil, session: nil, address: [],
      requestID: nil, detail: "\(detail)")
  }

  /// Storage with these lines, chained.
  private func chained(_ times: [Int64]) async throws -> MemoryStorage {
    let storage = MemoryStorage()
    for (number, time) in times.enumerated() { try await storage.append(entry(number, at: time)) }
    let chain = AuditChain(storage: storage, ring: try ring(1))
    while try await chain.seal() {}
    return storage
  }

  private func lines(_ storage: MemoryStorage) async throws -> [ChainedEntry] {
    try await storage.audit(AuditQuery(after: 0, account: nil, limit: 10_000))
  }

  /// A copy of chained lines in which the times are others; the head stays the one that was signed.
  ///
  /// - Parameter recomputed: How many digests the one who did it recomputed.
  private func forged(
    _ original: MemoryStorage, _ times: [Int64], recomputed: Int
  ) async throws -> MemoryStorage {
    let made = try await lines(chained(times)).compactMap(\.digest)
    let known = try await lines(original).compactMap(\.digest)
    let copy = MemoryStorage()
    for (number, time) in times.enumerated() { try await copy.append(entry(number, at: time)) }
    let head = try #require(try await original.auditChain().head)
    let digests = Array(made.prefix(recomputed) + known.dropFirst(recomputed))
    #expect(try await copy.sealAudit(expecting: nil, digests: digests, head: head))
    return copy
  }

  @Test(arguments: [(recomputed: 0, position: 3 as Int64), (recomputed: 8, position: 9)])
  func `lines whose time was changed are kept, also when who did it made their digests fit`(
    _ attack: (recomputed: Int, position: Int64)
  ) async throws {
    // The first two are old in truth, and the others are made to look so.
    let times = [Int64](repeating: 10, count: 2) + [Int64](repeating: 100, count: 18)
    let wrong = [Int64](repeating: 10, count: 8) + [Int64](repeating: 100, count: 12)
    let copy = try await forged(chained(times), wrong, recomputed: attack.recomputed)
    let chain = AuditChain(storage: copy, ring: try ring(1))
    #expect(try await chain.fault() == nil, "the ends are as they were")
    var memory = AuditMemory()
    let fault = AuditFault(.lineChanged, at: attack.position)
    #expect(try await chain.forget(before: UnixTime(50), memory: &memory) == .broken(fault))
    #expect(try await chain.fault(&memory) == fault, "it is remembered")
    #expect(try await lines(copy).count == 20)
    #expect(try await copy.auditChain().anchor == nil)
    // Another chain is judged by itself.
    _ = try await chain.restart(by: Origin(actor: .command), at: UnixTime(200))
    #expect(try await chain.fault(&memory) == nil)
  }

  @Test func `a service that has walked along the chain sees what was changed afterwards`() async throws {
    let times = [Int64](repeating: 10, count: 600) + [Int64](repeating: 100, count: 900)
    let wrong = [Int64](repeating: 10, count: 1100) + [Int64](repeating: 100, count: 400)
    let original = try await chained(times)
    var memory = AuditMemory()
    let chain = AuditChain(storage: original, ring: try ring(1))
    #expect(try await chain.forget(before: UnixTime(5), memory: &memory) == .done)
    #expect(try await chain.forget(before: UnixTime(50), limit: 1, memory: &memory) == .more)
    #expect(try await lines(original).count == 1499)
    for recomputed in [0, 1100, 1499] {
      let copy = try await forged(chained(times), wrong, recomputed: recomputed)
      var later = memory
      let outcome = try await AuditChain(storage: copy, ring: ring(1)).forget(
        before: UnixTime(50), limit: 1000, memory: &later)
      guard case .broken(let fault) = outcome else {
        Issue.record("it was forgotten: \(recomputed)")
        continue
      }
      #expect(fault.kind == .lineChanged)
      #expect(try await lines(copy).count == 1500)
    }
    var outcome = AuditForgetting.more
    while outcome == .more {
      outcome = try await chain.forget(before: UnixTime(50), limit: 70, memory: &memory)
    }
    #expect(outcome == .done)
    #expect(try await chain.verify() == .intact(sealed: 900, unsealed: 0))
  }

  @Test func `a head that went back, or does not contain the one of before, is at fault`() async throws {
    let storage = try await chained([1, 1, 1, 1])
    let chain = AuditChain(storage: storage, ring: try ring(1))
    var memory = AuditMemory()
    #expect(try await chain.fault(&memory) == nil)
    func fault(of other: MemoryStorage) async throws -> AuditFault? {
      var memory = memory
      return try await AuditChain(storage: other, ring: ring(1)).fault(&memory)
    }
    #expect(try await fault(of: chained([1, 1, 1, 1])) == nil)
    #expect(try await fault(of: chained([1, 1, 1, 1, 2])) == nil)
    #expect(try await fault(of: chained([1, 1])) == AuditFault(.headOutdated, at: 3))
    #expect(try await fault(of: chained([2, 2, 2, 2])) == AuditFault(.lineChanged, at: 4))
    #expect(try await fault(of: chained([2, 2, 2, 2, 2])) == AuditFault(.lineChanged, at: 4))
    #expect(try await fault(of: MemoryStorage()) == AuditFault(.headMissing, at: 1))
    // What was forgotten, or begun anew, is behind it.
    while try await chain.forget(before: UnixTime(2)) {}
    #expect(try await chain.fault(&memory) == nil)
    let other = try await forged(chained([1, 1, 1, 1]), [1, 1, 1, 2], recomputed: 0)
    _ = try await AuditChain(storage: other, ring: ring(1)).restart(
      by: Origin(actor: .command), at: UnixTime(9))
    #expect(try await fault(of: other) == nil)
  }

  @Test func `a chain whose first lines were cut off is at fault, with and without its anchor`() async throws
  {
    // Lines that were forgotten leave an anchor; without it, it is as if they had been taken away.
    let storage = try await chained([1, 1, 1, 9, 9])
    let chain = AuditChain(storage: storage, ring: try ring(1))
    while try await chain.forget(before: UnixTime(5)) {}
    #expect(try await chain.fault() == nil)
    let ends = try await storage.auditChain()
    let anchor = try #require(ends.anchor)
    let cut = MemoryStorage()
    for (number, time) in [Int64(1), 1, 1, 9, 9].enumerated() {
      try await cut.append(entry(number, at: time))
    }
    let digests = try await lines(chained([1, 1, 1, 9, 9])).compactMap(\.digest)
    #expect(try await cut.sealAudit(expecting: nil, digests: digests, head: #require(ends.head)))
    // The anchor stands, and a line behind it is gone.
    let further = AuditSeal(
      position: 4, digest: digests[3], code: anchor.code, masterKey: anchor.masterKey)
    #expect(try await cut.truncateAudit(expecting: nil, to: further))
    #expect(
      try await cut.resealAudit(
        expecting: AuditChainState(anchor: further, head: ends.head), with: ends))
    #expect(
      try await AuditChain(storage: cut, ring: ring(1)).fault() == AuditFault(.lineMissing, at: 4))
  }
}
