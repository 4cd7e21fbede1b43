package import Domain
internal import COpenSSL
internal import Synchronization

/// Algorithms fetched once: an implicit fetch takes locks in OpenSSL 3.0 on every call.
// Fetched objects are immutable, and their reference counts are atomic (EVP_MD_fetch(3)).
enum Algorithms {
  // Immutable once fetched.
  nonisolated(unsafe) static let sha256: OpaquePointer? = unsafe EVP_MD_fetch(nil, "SHA2-256", nil)
  nonisolated(unsafe) static let hmac: OpaquePointer? = unsafe EVP_MAC_fetch(nil, "HMAC", nil)
  nonisolated(unsafe) static let aes256GCM: OpaquePointer? = unsafe EVP_CIPHER_fetch(nil, "AES-256-GCM", nil)
  nonisolated(unsafe) static let hkdf: OpaquePointer? = unsafe EVP_KDF_fetch(nil, "HKDF", nil)
}

/// Prepared contexts that are lent out one thread at a time: taking one back is cheaper than making one, and
/// no thread ever waits for another's.
final class ContextPool<Context: AnyObject & Sendable>: Sendable {
  private let idle = Mutex<[Context]>([])
  private let make: @Sendable () -> Context?

  init(make: @escaping @Sendable () -> Context?) {
    self.make = make
  }

  /// Lends a prepared context; nil when OpenSSL cannot make one.
  func lend<R>(_ body: (Context) -> R?) -> R? {
    guard let context = idle.withLock({ $0.popLast() }) ?? make() else { return nil }
    defer {
      idle.withLock { contexts in
        // More idle contexts than this mean a burst that is over.
        if contexts.count < 32 { contexts.append(context) }
      }
    }
    return body(context)
  }
}

// Only the borrower of a ContextPool touches it.
@safe private final class DigestContext: @unchecked Sendable {
  let raw: OpaquePointer

  init?() {
    guard let made = unsafe EVP_MD_CTX_new() else { return nil }
    unsafe raw = made
  }

  deinit { unsafe EVP_MD_CTX_free(raw) }
}

private let digestContexts = ContextPool(make: { DigestContext() })

/// SHA-256 (FIPS 180-4): 32 bytes.
package func sha256(_ bytes: [UInt8]) -> [UInt8] {
  let digest: [UInt8]? = digestContexts.lend { context in
    var out = [UInt8](repeating: 0, count: 32)
    var length: UInt32 = 0
    let done =
      unsafe EVP_DigestInit_ex2(context.raw, Algorithms.sha256, nil) == 1
      && EVP_DigestUpdate(context.raw, bytes, bytes.count) == 1
      && EVP_DigestFinal_ex(context.raw, &out, &length) == 1
    return done && length == 32 ? out : nil
  }
  guard let digest else {
    // Hashing memory fails only when memory is gone; a wrong digest would be worse than no process.
    preconditionFailure("SHA-256 is not available: \(CryptoError("sha256").detail)")
  }
  return digest
}

/// SHA-256 of several fields, each preceded by its length, so that no two lists have one encoding.
package func sha256(fields: [[UInt8]]) -> [UInt8] {
  var joined: [UInt8] = []
  joined.reserveCapacity(fields.reduce(0) { $0 + $1.count + 4 })
  for field in fields {
    let length = UInt32(field.count)
    for shift in stride(from: 24, through: 0, by: -8) {
      joined.append(UInt8(truncatingIfNeeded: length >> UInt32(shift)))
    }
    joined.append(contentsOf: field)
  }
  return sha256(joined)
}

/// Compares secrets without telling by its time where they differ; lengths are not secret.
package func constantTimeEqual(_ a: [UInt8], _ b: [UInt8]) -> Bool {
  guard a.count == b.count, !a.isEmpty else { return a.count == b.count }
  return unsafe CRYPTO_memcmp(a, b, a.count) == 0
}

extension Entropy {
  /// Random bytes from OpenSSL's generator, seeded by the kernel.
  package static var system: Entropy {
    Entropy { count in
      var bytes = [UInt8](repeating: 0, count: count)
      guard unsafe RAND_bytes(&bytes, Int32(count)) == 1 else {
        // Going on without randomness would make guessable keys.
        preconditionFailure("no randomness: \(CryptoError("random bytes").detail)")
      }
      return bytes
    }
  }
}
