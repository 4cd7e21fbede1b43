internal import Domain
internal import Storage

/// What a running service remembers of the audit's chain from one look to the next, out of reach of who can write the
/// database.
package struct AuditMemory: Sendable {
  /// The last head that could be accounted for.
  private(set) var head: AuditWitness?
  /// What was found wrong with the lines, and with which anchor: it stands until another chain is begun.
  private var found: (fault: AuditFault, anchor: AuditWitness?)?
  /// How far every digest was recomputed, up to a head whose code was right.
  private var walked: AuditWitness?
  /// The digests on the way there, at places a stride apart.
  private var milestones: [AuditWitness] = []

  /// Lines from one milestone to the next.
  private static let stride: Int64 = 500

  package init() {}

  /// Takes a head that was found right, or that this service has made.
  package mutating func remember(_ head: AuditWitness?) { self.head = head }

  mutating func remember(_ fault: AuditFault, in chain: AuditChainState) {
    found = (fault, chain.anchor?.witness)
  }

  /// What was found wrong with the lines of this chain.
  func fault(in chain: AuditChainState) -> AuditFault? {
    guard let found, found.anchor == chain.anchor?.witness else { return nil }
    return found.fault
  }

  /// From where on the digests of a chain that begins at `start` have still to be recomputed.
  mutating func unwalked(from start: AuditWitness) -> AuditWitness {
    milestones.removeAll { $0.position <= start.position }
    guard let walked, walked.position > start.position else { return start }
    return walked
  }

  /// Takes the digests on a way that ended where a right head said.
  mutating func remember(wayTo end: AuditWitness, past places: [AuditWitness]) {
    milestones += places
    walked = end
  }

  /// Whether the digest at a place of a way is worth remembering.
  static func isMilestone(_ position: Int64) -> Bool { position.isMultiple(of: stride) }

  /// The next place from one on whose digest is known.
  func milestone(from position: Int64) -> AuditWitness? {
    milestones.first { $0.position >= position } ?? walked.flatMap { $0.position >= position ? $0 : nil }
  }
}

extension AuditSeal {
  var witness: AuditWitness { AuditWitness(position: position, digest: digest) }
}

extension AuditChainState {
  /// What the first line is behind.
  var start: AuditWitness { anchor?.witness ?? AuditWitness(position: 0, digest: firstDigest) }
}
