package import Domain
package import Storage
internal import Crypto
internal import Wire

/// What a walk along the audit's chain found.
package enum AuditVerdict: Sendable, Equatable {
  /// Every line stands as it was written.
  case intact(sealed: Int, unsealed: Int)
  /// Every line stands as it was written, and nobody chains those from a position on: they wait for longer than it takes.
  case notChained(sealed: Int, unsealed: Int, from: Int64)
  /// Every line stands as it was written, and there is nothing left with which a head of before could be compared.
  case notCompared(AuditWitness, begin: Int64)
  /// What is wrong, in the order of the positions and at least once; after a hundred no more is told.
  case broken([AuditFault])
  /// The master key of an end of the chain is not in the list.
  case keyMissing(MasterKeyID)
}

/// Chains the lines of the audit: each has a digest over itself and the digest before it, and the ends have codes by a
/// key that is not in the database. Who can write the database can add lines at the end that is not chained yet, or put
/// back an older state of the whole, but not change, add or take away lines inside it without being noticed.
///
/// It is only ever chained on from a head that can be accounted for: its code is right, the line at its place carries
/// its digest, no line behind it carries one, and the next line is at the next place. Where that does not hold, somebody
/// took an end, or lines, away; then nothing is chained and nothing forgotten any more, so that what is left stays as it
/// was found, while new lines are still written, until an operator has it begin anew. To go on by itself from there would
/// make the loss look like a beginning. What was taken away altogether, ends, lines and the count of places, leaves
/// nothing in the database to notice it by: for that, each head is told to the log as a witness.
package struct AuditChain: Sendable {
  let storage: any Storage
  let ring: MasterKeyRing

  package init(storage: any Storage, ring: MasterKeyRing) {
    self.storage = storage
    self.ring = ring
  }

  /// Whether there is a line that is not chained yet.
  package func hasUnsealed() async throws(StorageError) -> Bool {
    let chain = try await storage.auditChain()
    return try await !lines(after: chain.head?.position ?? 0, limit: 1).isEmpty
  }

  /// The place of a line that should be chained for long and is not.
  package func overdue(at now: UnixTime) async throws(StorageError) -> Int64? {
    let chain = try await storage.auditChain()
    return try await lines(after: chain.head?.position ?? 0, limit: 1000)
      .first { $0.digest == nil && $0.isOverdue(at: now) }?.entry.position
  }

  /// Why it cannot be chained on; nil when it can. A look at the ends, not a walk.
  ///
  /// - Parameter memory: What was seen before, with which the ends have to agree; learns the head.
  package func fault(_ memory: inout AuditMemory) async throws(StorageError) -> AuditFault? {
    while true {
      let chain = try await storage.auditChain()
      var fault = try await fault(of: chain)
      if fault == nil { fault = memory.fault(in: chain) }
      if fault == nil, let head = memory.head { fault = try await self.fault(of: chain, after: head) }
      guard let fault else {
        memory.remember(chain.head?.witness)
        return nil
      }
      // What another node chained or forgot between the looks is no fault.
      if try await storage.auditChain() == chain { return fault }
    }
  }

  /// As ``fault(_:)``, of who has seen nothing before.
  package func fault() async throws(StorageError) -> AuditFault? {
    var memory = AuditMemory()
    return try await fault(&memory)
  }

  /// Chains what is not chained yet, a bounded number of lines; nothing where the ends are at fault.
  ///
  /// - Parameter witness: Is told of the new head.
  /// - Returns: Whether more is left.
  package func seal(
    limit: Int = 500, witness: (AuditWitness) -> Void = { _ in }
  ) async throws(StorageError) -> Bool {
    let chain = try await storage.auditChain()
    guard try await fault(of: chain) == nil else { return false }
    let lines = try await lines(after: chain.head?.position ?? 0, limit: limit)
    var (position, digest) = (chain.head?.position ?? 0, chain.head?.digest ?? firstDigest)
    var digests: [[UInt8]] = []
    for line in lines {
      guard line.entry.position == position + 1, line.digest == nil else { break }
      position += 1
      digest = line.entry.digest(behind: digest)
      digests.append(digest)
    }
    guard !digests.isEmpty else { return false }
    let head = ring.current.seal(.head, at: position, digest)
    guard try await storage.sealAudit(expecting: chain.head, digests: digests, head: head) else {
      return false
    }
    witness(AuditWitness(position: head.position, digest: head.digest))
    return digests.count == limit
  }

  /// Gives the ends codes by the present master key where they have another's, so that the other can be dropped.
  package func reseal() async throws(StorageError) {
    let chain = try await storage.auditChain()
    guard chain.ends.contains(where: { $0.seal.masterKey != ring.current.id }),
      try await fault(of: chain) == nil
    else { return }
    func renewed(_ seal: AuditSeal?, as end: AuditEnd) -> AuditSeal? {
      seal.map { ring.current.seal(end, at: $0.position, $0.digest) }
    }
    // False: another node moved an end meanwhile, and signed it.
    _ = try await storage.resealAudit(
      expecting: chain,
      with: AuditChainState(
        anchor: renewed(chain.anchor, as: .anchor), head: renewed(chain.head, as: .head)))
  }

  /// Throws away what cannot be accounted for, and begins a new chain whose first line says so.
  ///
  /// - Returns: What was found; only of what is broken there is anything to throw away.
  package func restart(by origin: Origin, at now: UnixTime) async throws(StorageError) -> AuditVerdict {
    while true {
      let chain = try await storage.auditChain()
      let verdict = try await verify()
      guard case .broken = verdict else { return verdict }
      let entry = AuditEntry(
        at: now, action: .auditRestarted, actor: origin.actor.text, account: nil, session: nil,
        address: origin.address, requestID: origin.requestID, detail: nil)
      let key = ring.current
      let isDone = try await storage.restartAudit(
        expecting: chain, behind: try await lastPosition(), with: entry
      ) { position in
        AuditChainState(
          anchor: key.seal(.anchor, at: position, firstDigest),
          head: key.seal(.head, at: position, firstDigest))
      }
      if isDone { return verdict }
    }
  }

  private func lastPosition() async throws(StorageError) -> Int64 {
    var last: Int64 = 0
    while let line = try await lines(after: last, limit: 1000).last { last = line.entry.position }
    return last
  }

  /// Walks along the whole chain.
  ///
  /// - Parameters:
  ///   - witnesses: Heads of before, from where nobody who writes the database could change them.
  ///   - now: When given, lines that should be chained for long are told.
  package func verify(
    against witnesses: [AuditWitness] = [], at now: UnixTime? = nil
  ) async throws(StorageError) -> AuditVerdict {
    while true {
      let chain = try await storage.auditChain()
      if let fault = faultOfCodes(chain) {
        if fault.kind == .keyMissing,
          let seal = chain.ends.first(where: { ring[$0.seal.masterKey] == nil })?.seal
        {
          return .keyMissing(seal.masterKey)
        }
        return .broken([fault])
      }
      var walk = AuditWalk(along: chain, witnesses: witnesses, now: now)
      try await take(&walk)
      let later = try await storage.auditChain()
      let verdict = walk.verdict(headNow: later.head?.position)
      // Lines that were forgotten during the walk are not missing: from the new anchor once more.
      guard case .broken = verdict, later.anchor != chain.anchor else { return verdict }
    }
  }

  /// Has a walk take every line that there is, also below the first place and several at one.
  private func take(_ walk: inout AuditWalk) async throws(StorageError) {
    let limit = 1000
    var (after, seen) = (Int64.min, Int64?.none)
    while true {
      let page = try await lines(after: after, limit: limit)
      // Each page begins with the last line of the one before: another at its place would be overlooked.
      let isOverlap = seen != nil && page.first?.entry.position == seen
      for line in page.dropFirst(isOverlap ? 1 : 0) { walk.take(line) }
      guard page.count == limit, let last = page.last?.entry.position else { return }
      (after, seen) = last == seen ? (last, nil) : (last - 1, last)
    }
  }

  func lines(after position: Int64, limit: Int) async throws(StorageError) -> [ChainedEntry] {
    try await storage.audit(AuditQuery(after: position, account: nil, limit: limit))
  }

  /// What the ends show of themselves.
  private func faultOfCodes(_ chain: AuditChainState) -> AuditFault? {
    for (end, seal) in chain.ends {
      let bytes = signedBytes(end, seal.position, seal.digest)
      // One that another key made is not of a key that is missing: somebody changed the key's name.
      let maker = ring.first { $0.audit.isCode(seal.code, for: bytes) }
      if maker == nil, ring[seal.masterKey] == nil { return AuditFault(.keyMissing, at: seal.position) }
      guard let maker, maker.id == seal.masterKey else {
        return AuditFault(end == .head ? .headForged : .anchorForged, at: seal.position)
      }
    }
    guard let anchor = chain.anchor else { return nil }
    guard let head = chain.head else { return AuditFault(.headMissing, at: anchor.position) }
    return head.position < anchor.position ? AuditFault(.headOutdated, at: anchor.position) : nil
  }

  /// What the ends and the lines at them show.
  func fault(of chain: AuditChainState) async throws(StorageError) -> AuditFault? {
    if let fault = faultOfCodes(chain) { return fault }
    if let fault = try await faultOfStart(chain) { return fault }
    if let head = chain.head, chain.anchor?.position != head.position {
      let line = try await lines(after: head.position - 1, limit: 1).first
      guard line?.entry.position == head.position else { return AuditFault(.lineMissing, at: head.position) }
      guard line?.digest == head.digest else { return AuditFault(.lineChanged, at: head.position) }
    } else if let head = chain.head, chain.anchor?.digest != head.digest {
      return AuditFault(.lineChanged, at: head.position)
    }
    let end = chain.head?.position ?? 0
    guard let next = try await lines(after: end, limit: 1).first else { return nil }
    guard next.digest == nil else {
      return AuditFault(chain.head == nil ? .headMissing : .headOutdated, at: next.entry.position)
    }
    return next.entry.position == end + 1 ? nil : AuditFault(.lineMissing, at: end + 1)
  }

  /// What the first line shows: it has to be right behind the anchor, or at the first place that there is, and follow
  /// on what was there. Otherwise lines were cut off, with or without the anchor.
  private func faultOfStart(_ chain: AuditChainState) async throws(StorageError) -> AuditFault? {
    let start = chain.start
    guard let first = try await lines(after: .min, limit: 1).first else {
      guard let head = chain.head, head.position > start.position else { return nil }
      return AuditFault(.lineMissing, at: start.position + 1)
    }
    let place = first.entry.position
    guard place > start.position else { return AuditFault(.lineMisplaced, at: place) }
    guard place == start.position + 1 else { return AuditFault(.lineMissing, at: start.position + 1) }
    guard let head = chain.head, place <= head.position else { return nil }
    return first.digest == first.entry.digest(behind: start.digest)
      ? nil : AuditFault(.lineChanged, at: place)
  }

  /// What a chain shows that has to go on from a head of before.
  private func fault(
    of chain: AuditChainState, after known: AuditWitness
  ) async throws(StorageError) -> AuditFault? {
    let place = known.position
    if let anchor = chain.anchor, anchor.position >= place {
      // One of a chain that was begun anew says nothing of what was there before.
      guard anchor.position == place, anchor.digest != firstDigest else { return nil }
      return anchor.digest == known.digest ? nil : AuditFault(.lineChanged, at: place)
    }
    guard let head = chain.head else { return AuditFault(.headMissing, at: chain.start.position + 1) }
    guard head.position >= place else { return AuditFault(.headOutdated, at: head.position + 1) }
    if head.position == place {
      return head.digest == known.digest ? nil : AuditFault(.lineChanged, at: place)
    }
    let line = try await lines(after: place - 1, limit: 1).first
    guard line?.entry.position == place else { return AuditFault(.lineMissing, at: place) }
    return line?.digest == known.digest ? nil : AuditFault(.lineChanged, at: place)
  }
}

extension ChainedEntry {
  /// Seconds after which a line that is not chained is overdue: a service takes a few for it.
  private static let patience: Int64 = 60

  func isOverdue(at now: UnixTime) -> Bool { now.since(entry.at) > Self.patience }
}

extension MasterKey {
  func seal(_ end: AuditEnd, at position: Int64, _ digest: [UInt8]) -> AuditSeal {
    AuditSeal(
      position: position, digest: digest, code: audit.code(for: signedBytes(end, position, digest)),
      masterKey: id)
  }
}

/// What an end's code is over: which end, so that one cannot stand in for the other, where, and the digest there.
private func signedBytes(_ end: AuditEnd, _ position: Int64, _ digest: [UInt8]) -> [UInt8] {
  Array("bramley audit \(end.rawValue) v1".utf8) + [0]
    + (0..<8).map { UInt8(truncatingIfNeeded: position >> (56 - 8 * $0)) } + digest
}

extension AuditEntry {
  /// SHA-256 over the digest before and the line as JSON, its members in a fixed order.
  func digest(behind previous: [UInt8]) -> [UInt8] { sha256(previous + json) }

  /// The line as JSON; what there is nothing of is left out.
  package var json: [UInt8] {
    var out = JSONWriter(reserving: 256)
    out.member("position", position)
    out.member("at", at.seconds)
    out.member("action", action.rawValue)
    out.member("actor", actor)
    out.member("account", account?.text)
    out.member("session", session?.description)
    if !address.isEmpty { out.member("address", addressText(address)) }
    out.member("requestId", requestID)
    out.member("detail", detail)
    return out.finish()
  }
}

/// An IPv4 address in decimals, or the first half of an IPv6 address as a network. Of another length is nothing that we
/// wrote; no two are told alike, since the digest is over this text.
private func addressText(_ bytes: [UInt8]) -> String {
  if bytes.count == 4 { return bytes.map(String.init).joined(separator: ".") }
  guard bytes.count == 8 else { return hexText(bytes) }
  let groups = stride(from: 0, to: bytes.count - 1, by: 2).map { index in
    String(UInt16(bytes[index]) << 8 | UInt16(bytes[index + 1]), radix: 16)
  }
  return groups.joined(separator: ":") + "::/64"
}
