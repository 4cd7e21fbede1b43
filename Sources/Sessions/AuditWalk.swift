internal import Domain
internal import Storage

/// What is wrong with the audit, and where.
package struct AuditFault: Sendable, Equatable {
  /// In one word, for logs and programs.
  package enum Kind: String, Sendable {
    /// The line does not have the digest that it should: it, or one before it, was changed or put there.
    case lineChanged = "line_changed"
    /// No line is where one was: places are given out without gaps.
    case lineMissing = "line_missing"
    /// A second line is at the same place.
    case lineRepeated = "line_repeated"
    /// A line is where none can be: below the first place, or among what was forgotten.
    case lineMisplaced = "line_misplaced"
    /// Lines carry digests or were forgotten, and there is no head.
    case headMissing = "head_missing"
    /// Lines behind the head carry digests, or were forgotten: an older head was put back.
    case headOutdated = "head_outdated"
    case headForged = "head_forged"
    case anchorForged = "anchor_forged"
    /// An end has its code by a master key that is not in the list.
    case keyMissing = "key_missing"
    /// The chain had another digest there when the witness was taken.
    case witnessDiffers = "witness_differs"
  }

  package let kind: Kind
  package let position: Int64

  package init(_ kind: Kind, at position: Int64) {
    self.kind = kind
    self.position = position
  }
}

/// A head of the chain as it was told: where, and the digest there.
package struct AuditWitness: Sendable, Equatable, CustomStringConvertible {
  package let position: Int64
  /// 32 bytes.
  package let digest: [UInt8]

  package init(position: Int64, digest: [UInt8]) {
    self.position = position
    self.digest = digest
  }

  /// Reads the form that `description` writes, and no other.
  package init?(_ text: String) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, let position = Int64(parts[0]), position > 0, String(position) == parts[0],
      let digest = hexBytes(parts[1]), digest.count == 32
    else { return nil }
    self.init(position: position, digest: digest)
  }

  /// `position:digest`, the digest in lower-case hexadecimal.
  package var description: String { "\(position):\(hexText(digest))" }
}

/// Judges the lines of the audit, one after the other in the order of their places.
struct AuditWalk {
  private let chain: AuditChainState
  private let witnesses: [AuditWitness]
  /// The last place that a line was at, or the anchor's.
  private var position: Int64
  /// The digest there; nil where it cannot be known, since a line is missing.
  private var digest: [UInt8]?
  private var faults: [AuditFault] = []
  private var (sealed, unsealed) = (0, 0)
  /// When what is not chained yet is judged by its age, and the first place that is overdue.
  private let now: UnixTime?
  private var overdue: Int64?
  /// The first line behind the head that carries a digest, and the last.
  private var beyondHead: (first: Int64, last: Int64)?
  private var witnessed: Set<Int64> = []

  /// Faults that are told.
  private static let faultLimit = 100

  init(along chain: AuditChainState, witnesses: [AuditWitness], now: UnixTime?) {
    self.chain = chain
    self.now = now
    self.witnesses = witnesses
    position = chain.anchor?.position ?? 0
    digest = chain.anchor?.digest ?? firstDigest
    // One that was begun anew has no digest of what was there before.
    if let anchor = chain.anchor, anchor.digest != firstDigest { compare(anchor.digest, at: anchor.position) }
  }

  mutating func take(_ line: ChainedEntry) {
    let place = line.entry.position
    guard place > chain.anchor?.position ?? 0 else { return note(.lineMisplaced, at: place) }
    guard place > position else { return note(.lineRepeated, at: place) }
    if place > position + 1 {
      note(.lineMissing, at: position + 1)
      digest = nil
    }
    let isSealed = place <= chain.head?.position ?? 0
    if isSealed { sealed += 1 } else { unsealed += 1 }
    if overdue == nil, !isSealed, line.digest == nil, let now, line.isOverdue(at: now) { overdue = place }
    if let known = line.digest {
      let isRight = digest.map { line.entry.digest(behind: $0) == known } ?? true
      let isHead = place == chain.head?.position
      if !isRight || isHead && known != chain.head?.digest { note(.lineChanged, at: place) }
      if !isSealed { beyondHead = (beyondHead?.first ?? place, place) }
    } else if isSealed {
      note(.lineChanged, at: place)
    }
    compare(line.digest, at: place)
    // What stands there is gone on from, so that each fault is told at its own place.
    (position, digest) = (place, line.digest)
  }

  /// - Parameter headNow: Where the head is after the walk: lines up to there were chained meanwhile.
  func verdict(headNow: Int64?) -> AuditVerdict {
    var walk = self
    if let head = chain.head, walk.position < head.position {
      walk.note(.lineMissing, at: walk.position + 1)
    }
    if let beyondHead, headNow ?? 0 < beyondHead.last {
      walk.note(chain.head == nil ? .headMissing : .headOutdated, at: beyondHead.first)
    }
    let begin = chain.anchor?.position ?? 0
    let others = witnesses.filter { !witnessed.contains($0.position) }
    for witness in others where witness.position > begin { walk.note(.witnessDiffers, at: witness.position) }
    guard walk.faults.isEmpty else { return .broken(walk.faults.sorted { $0.position < $1.position }) }
    // One from before the anchor has nothing any more to be compared with.
    if let witness = others.first { return .notCompared(witness, begin: begin + 1) }
    // Lines up to there were chained meanwhile.
    if let overdue, overdue > headNow ?? 0 {
      return .notChained(sealed: sealed, unsealed: unsealed, from: overdue)
    }
    return .intact(sealed: sealed, unsealed: unsealed)
  }

  private mutating func compare(_ digest: [UInt8]?, at place: Int64) {
    for witness in witnesses where witness.position == place {
      witnessed.insert(place)
      if witness.digest != digest { note(.witnessDiffers, at: place) }
    }
  }

  private mutating func note(_ kind: AuditFault.Kind, at place: Int64) {
    if faults.count < Self.faultLimit { faults.append(AuditFault(kind, at: place)) }
  }
}

/// What the first line's digest is behind.
let firstDigest = [UInt8](repeating: 0, count: 32)
