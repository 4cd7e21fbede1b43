package import Domain
package import Storage
internal import Crypto
internal import JOSE

/// The signing keys after a change, and what the change was.
package struct ChangedSigningKeys: Sendable {
  package let keys: SigningKeys
  package let changes: [SigningKeyChange]
}

/// Does what is due: the very first key, which signs at once, the next one, a standby of the algorithm that
/// is set, so that verifiers have it long before it signs, and the end of keys that nobody needs any more.
///
/// - Parameter known: Keys that are open already.
package func settleSigningKeys(
  in storage: any Storage, known: SigningKeys?, ring: MasterKeyRing, rules: SigningKeyRules, now: UnixTime,
  entropy: Entropy
) async throws(SigningKeyError) -> ChangedSigningKeys {
  let (book, changes) = try await changeSigningKeys(
    in: storage, known: known, ring: ring, rules: rules, origin: Origin(actor: .system), now: now,
    entropy: entropy
  ) { book in .due(in: book, rules: rules, now: now) }
  return ChangedSigningKeys(
    keys: try SigningKeys(opening: book, with: ring, known: known), changes: changes)
}

/// Changes the signing keys as `decide` wants it, who is asked again when another node was faster.
///
/// With several nodes at once, compare-and-swap lets one write and the others take what it wrote. Nothing is
/// written, and no key made, while there is one among those that stay that our master keys do not open: the
/// database would end up with keys under two of them.
///
/// - Parameter decide: Nil to leave everything as it is.
/// - Returns: What is in the database now, and what this call did of it.
package func changeSigningKeys(
  in storage: any Storage, known: SigningKeys?, ring: MasterKeyRing, rules: SigningKeyRules, origin: Origin,
  now: UnixTime, entropy: Entropy, by decide: (SigningKeyBook) throws(SigningKeyError) -> SigningKeyPlan?
) async throws(SigningKeyError) -> (book: SigningKeyBook, changes: [SigningKeyChange]) {
  var book = try await fromStorage { () throws(StorageError) in try await storage.signingKeys() }
  while true {
    guard let plan = try decide(book), !plan.isEmpty else { return (book, []) }
    _ = try openKeys(of: plan.keys, with: ring, known: known)
    var (keys, changes) = (plan.keys, plan.changes)
    for role in plan.missing {
      let made = try makeRecord(role, rules: rules, ring: ring, now: now, entropy: entropy)
      keys.append(made)
      changes.append(SigningKeyChange(step: .made, id: made.id, algorithm: made.algorithm))
    }
    let (version, wanted) = (book.version, keys)
    let entries = auditEntries(from: book.keys, to: keys, by: origin, at: now)
    let outcome = try await fromStorage { () throws(StorageError) in
      try await storage.replaceSigningKeys(expecting: version, with: wanted, audited: entries)
    }
    switch outcome {
    case .replaced(let written): return (written, changes)
    case .conflict(let written): book = written
    }
  }
}

private func fromStorage<R>(
  _ ask: () async throws(StorageError) -> R
) async throws(SigningKeyError) -> R {
  do throws(StorageError) {
    return try await ask()
  } catch {
    throw .storage(error)
  }
}

private func makeRecord(
  _ role: SigningKeyRole, rules: SigningKeyRules, ring: MasterKeyRing, now: UnixTime, entropy: Entropy
) throws(SigningKeyError) -> SigningKeyRecord {
  do throws(CryptoError) {
    let key = try PrivateKey.generate(rules.algorithm)
    let id = thumbprint(of: key.publicKey)
    return SigningKeyRecord(
      id: id, algorithm: rules.algorithm.rawValue, role: role, createdAt: now,
      activeSince: role == .active ? now : nil, retiredAt: nil, isToRetire: false,
      longestLifetime: rules.lifetime, cookiesUntil: nil,
      sealed: try ring.current.seal.seal(
        key.pkcs8().reveal(), context: context(of: id), entropy: entropy),
      masterKey: ring.current.id,
      certificate: try key.selfSignedCertificate(
        name: "Bramley session tokens", serial: entropy.bytes(16), notBefore: now - 86_400,
        notAfter: now + 3650 * 86_400))
  } catch {
    throw .crypto(error)
  }
}

/// Puts every signing key under the seal of the first master key, so that the others are not needed for them.
///
/// - Returns: How many were under another seal.
package func rewrapSigningKeys(
  in storage: any Storage, ring: MasterKeyRing, rules: SigningKeyRules, now: UnixTime, entropy: Entropy
) async throws(SigningKeyError) -> Int {
  var count = 0
  _ = try await changeSigningKeys(
    in: storage, known: nil, ring: ring, rules: rules, origin: Origin(actor: .command), now: now,
    entropy: entropy
  ) { (book) throws(SigningKeyError) in
    count = book.keys.count { $0.masterKey != ring.current.id }
    return try .rewriting(book, rules: rules, now: now) { (record) throws(SigningKeyError) in
      try reseal(&record, with: ring, entropy: entropy)
    }
  }
  return count
}

private func reseal(
  _ record: inout SigningKeyRecord, with ring: MasterKeyRing, entropy: Entropy
) throws(SigningKeyError) {
  let bytes = try unseal(record, with: ring)
  guard record.masterKey != ring.current.id else { return }
  do throws(CryptoError) {
    record.sealed = try ring.current.seal.seal(bytes, context: context(of: record.id), entropy: entropy)
  } catch {
    throw .crypto(error)
  }
  record.masterKey = ring.current.id
}

/// Has the key that signs published until a moment, for a session cookie that lives as long.
///
/// - Parameter lifetime: Of the session tokens that the caller signs with what is returned.
/// - Returns: The keys of now, of which another may sign than before: then that one is published as long.
func publish(
  _ known: SigningKeys, until end: UnixTime, lifetime: Int64, in storage: any Storage, ring: MasterKeyRing
) async throws(SigningKeyError) -> SigningKeys {
  var book = try await fromStorage { () throws(StorageError) in try await storage.signingKeys() }
  while true {
    guard let index = book.keys.firstIndex(where: { $0.role == .active }) else { throw .noActiveKey }
    var keys = book.keys
    keys[index].cookiesUntil = max(keys[index].cookiesUntil ?? end, end)
    keys[index].longestLifetime = max(keys[index].longestLifetime, lifetime)
    if keys == book.keys { return try SigningKeys(opening: book, with: ring, known: known) }
    let (version, wanted) = (book.version, keys)
    let outcome = try await fromStorage { () throws(StorageError) in
      try await storage.replaceSigningKeys(expecting: version, with: wanted)
    }
    // What was written is read again as it is found: nothing is left to raise then.
    switch outcome {
    case .replaced(let written), .conflict(let written): book = written
    }
  }
}
