package import Domain
package import Storage
internal import Crypto
internal import Wire

/// What a walk along the audit's chain found.
package enum AuditVerdict: Sendable, Equatable {
  /// Every line stands as it was written.
  case intact(sealed: Int, unsealed: Int)
  /// This line, or one that stood before it, was changed, added or taken away.
  case broken(at: Int64)
  /// An end of the chain has a code that no key of ours made.
  case forged
  /// The master key of an end of the chain is not in the list.
  case keyMissing(MasterKeyID)
}

/// Chains the lines of the audit: each has a digest over itself and the digest before it, and the ends have codes by a
/// key that is not in the database. Who can write the database can add lines at the end that is not chained yet, or
/// take all of the chain away, but not change, add or take away lines inside it without being noticed.
package struct AuditChain: Sendable {
  private let storage: any Storage
  private let ring: MasterKeyRing

  package init(storage: any Storage, ring: MasterKeyRing) {
    self.storage = storage
    self.ring = ring
  }

  /// Whether there is a line that is not chained yet.
  package func hasUnsealed() async throws(StorageError) -> Bool {
    let chain = try await storage.auditChain()
    let after = (chain.head ?? chain.anchor)?.position ?? 0
    return try await !storage.audit(AuditQuery(after: after, account: nil, limit: 1)).isEmpty
  }

  /// Chains what is not chained yet, a bounded number of lines.
  ///
  /// - Returns: Whether more is left.
  package func seal(limit: Int = 500) async throws(StorageError) -> Bool {
    let chain = try await storage.auditChain()
    let last = chain.head ?? chain.anchor
    let lines = try await storage.audit(AuditQuery(after: last?.position ?? 0, account: nil, limit: limit))
    guard let end = lines.last else { return false }
    var digest = last?.digest ?? firstDigest
    var digests: [[UInt8]] = []
    for line in lines {
      digest = line.entry.digest(behind: digest)
      digests.append(digest)
    }
    let head = seal(at: end.entry.position, digest)
    return try await storage.sealAudit(expecting: chain.head, digests: digests, head: head)
      && lines.count == limit
  }

  /// Forgets lines from before a time, a bounded number, and leaves an anchor that says what they were.
  ///
  /// - Returns: Whether more is left.
  package func forget(before time: UnixTime, limit: Int = 500) async throws(StorageError) -> Bool {
    let chain = try await storage.auditChain()
    let after = chain.anchor?.position ?? 0
    let lines = try await storage.audit(AuditQuery(after: after, account: nil, limit: limit))
    let old = lines.prefix { $0.entry.at < time && $0.digest != nil }
    guard let last = old.last, let digest = last.digest else { return false }
    let anchor = seal(at: last.entry.position, digest)
    return try await storage.truncateAudit(expecting: chain.anchor, to: anchor) && old.count == limit
  }

  /// Walks along the whole chain.
  package func verify() async throws(StorageError) -> AuditVerdict {
    while true {
      let chain = try await storage.auditChain()
      let verdict = try await verify(chain)
      // Lines that were forgotten during the walk are not missing: from the new anchor once more.
      guard case .broken = verdict, try await storage.auditChain().anchor != chain.anchor else {
        return verdict
      }
    }
  }

  private func verify(_ chain: AuditChainState) async throws(StorageError) -> AuditVerdict {
    for seal in [chain.anchor, chain.head].compactMap({ $0 }) {
      guard let key = ring[seal.masterKey] else { return .keyMissing(seal.masterKey) }
      guard key.audit.isCode(seal.code, for: signedBytes(seal.position, seal.digest)) else { return .forged }
    }
    var (digest, position) = (chain.anchor?.digest ?? firstDigest, chain.anchor?.position ?? 0)
    var (sealed, unsealed) = (0, 0)
    let head = chain.head ?? chain.anchor
    while true {
      let lines = try await storage.audit(AuditQuery(after: position, account: nil, limit: 1000))
      guard !lines.isEmpty else { break }
      for line in lines {
        position = line.entry.position
        guard position <= head?.position ?? 0 else {
          unsealed += 1
          continue
        }
        digest = line.entry.digest(behind: digest)
        guard line.digest == digest else { return .broken(at: position) }
        sealed += 1
      }
    }
    if let head, head.position > chain.anchor?.position ?? 0, sealed == 0 || digest != head.digest {
      return .broken(at: head.position)
    }
    return .intact(sealed: sealed, unsealed: unsealed)
  }

  private func seal(at position: Int64, _ digest: [UInt8]) -> AuditSeal {
    AuditSeal(
      position: position, digest: digest, code: ring.current.audit.code(for: signedBytes(position, digest)),
      masterKey: ring.current.id)
  }
}

private let firstDigest = [UInt8](repeating: 0, count: 32)

private func signedBytes(_ position: Int64, _ digest: [UInt8]) -> [UInt8] {
  (0..<8).map { UInt8(truncatingIfNeeded: position >> (56 - 8 * $0)) } + digest
}

extension AuditEntry {
  /// SHA-256 over the digest before and the line as JSON, its members in a fixed order.
  fileprivate func digest(behind previous: [UInt8]) -> [UInt8] { sha256(previous + json) }

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

/// An IPv4 address in decimals, or the first half of an IPv6 address as a network.
private func addressText(_ bytes: [UInt8]) -> String {
  if bytes.count == 4 { return bytes.map(String.init).joined(separator: ".") }
  let groups = stride(from: 0, to: bytes.count - 1, by: 2).map { index in
    String(UInt16(bytes[index]) << 8 | UInt16(bytes[index + 1]), radix: 16)
  }
  return groups.joined(separator: ":") + "::/64"
}
