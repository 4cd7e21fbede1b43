package import Domain
package import Storage

/// What became of lines that were to be forgotten.
package enum AuditForgetting: Sendable, Equatable {
  case done
  /// More is left to be forgotten.
  case more
  /// Nothing was: the lines are not those that were chained.
  case broken(AuditFault)
}

extension AuditChain {
  /// Forgets lines from before a time, a bounded number, and leaves an anchor that says what they were.
  ///
  /// The rows alone say how old they are and what their digests are, and who can write them can make both up. So every
  /// digest is recomputed, and the way through the lines that go has to end where a head with a right code once said:
  /// the new anchor would otherwise vouch for whatever stands there. What was recomputed is remembered, so that the
  /// whole chain is walked along once in the life of a service and not each time.
  package func forget(
    before time: UnixTime, limit: Int = 500, memory: inout AuditMemory
  ) async throws(StorageError) -> AuditForgetting {
    let chain = try await storage.auditChain()
    guard try await fault(of: chain) == nil, let head = chain.head?.witness else { return .done }
    let old = try await lines(after: chain.start.position, limit: limit)
      .prefix { $0.entry.at < time && $0.entry.position <= head.position }
    guard let last = old.last?.entry.position else { return .done }
    switch try await judge(chain, to: head, judging: last, before: time, &memory) {
    case .fault(let fault):
      // What another node forgot between the looks is no fault.
      guard try await storage.auditChain().anchor == chain.anchor else { return .done }
      memory.remember(fault, in: chain)
      return .broken(fault)
    case .cut(nil): return .done
    case .cut(let cut?):
      let anchor = ring.current.seal(.anchor, at: cut.position, cut.digest)
      let isDone = try await storage.truncateAudit(expecting: chain.anchor, to: anchor)
      return isDone && old.count == limit ? .more : .done
    }
  }

  private enum Judgement {
    case fault(AuditFault)
    case cut(AuditWitness?)
  }

  /// Recomputes the digests of the lines up to a place.
  ///
  /// - Returns: The last of them that is from before the time, with its digest; or the first that is at fault.
  private func judge(
    _ chain: AuditChainState, to head: AuditWitness, judging last: Int64, before time: UnixTime,
    _ memory: inout AuditMemory
  ) async throws(StorageError) -> Judgement {
    var milestones: [AuditWitness] = []
    let unwalked = memory.unwalked(from: chain.start)
    let extended = try await walk(from: unwalked, to: head) { _, place in
      if AuditMemory.isMilestone(place.position) { milestones.append(place) }
    }
    if let extended { return .fault(extended) }
    memory.remember(wayTo: head, past: milestones)
    var (cut, isOld) = (AuditWitness?.none, true)
    let goal = memory.milestone(from: last) ?? head
    let fault = try await walk(from: chain.start, to: goal) { line, place in
      isOld = isOld && line.at < time && place.position <= last
      if isOld { cut = place }
    }
    if let fault { return .fault(fault) }
    return .cut(cut)
  }

  /// Walks from one place to another, recomputing each digest.
  ///
  /// - Returns: What is wrong on the way or at its end.
  private func walk(
    from start: AuditWitness, to end: AuditWitness, _ visit: (AuditEntry, AuditWitness) -> Void
  ) async throws(StorageError) -> AuditFault? {
    var here = start
    guard here.position <= end.position else { return AuditFault(.headOutdated, at: end.position + 1) }
    while here.position < end.position {
      let page = try await lines(after: here.position, limit: Int(min(1000, end.position - here.position)))
      guard !page.isEmpty else { return AuditFault(.lineMissing, at: here.position + 1) }
      for line in page {
        let place = line.entry.position
        guard place == here.position + 1 else { return AuditFault(.lineMissing, at: here.position + 1) }
        here = AuditWitness(position: place, digest: line.entry.digest(behind: here.digest))
        guard line.digest == here.digest else { return AuditFault(.lineChanged, at: place) }
        visit(line.entry, here)
      }
    }
    return here.digest == end.digest ? nil : AuditFault(.lineChanged, at: end.position)
  }
}
