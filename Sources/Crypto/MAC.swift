internal import COpenSSL

/// A key for HMAC-SHA-256 (RFC 2104), ready to use from any thread.
package final class MACKey: Sendable {
  private let contexts: ContextPool<MACContext>

  /// - Parameter bytes: The key; 32 bytes everywhere in this project.
  package init(_ bytes: [UInt8]) {
    contexts = ContextPool(make: { MACContext(key: bytes) })
  }

  /// The 32-byte code of a message.
  package func code(for message: [UInt8]) -> [UInt8] {
    let code: [UInt8]? = contexts.lend { context in
      var out = [UInt8](repeating: 0, count: 32)
      var length = 0
      // A null key starts afresh with the key of before (EVP_MAC_init(3)).
      let done =
        unsafe EVP_MAC_init(context.raw, nil, 0, nil) == 1
        && EVP_MAC_update(context.raw, message, message.count) == 1
        && EVP_MAC_final(context.raw, &out, &length, out.count) == 1
      return done && length == 32 ? out : nil
    }
    guard let code else {
      preconditionFailure("HMAC is not available: \(CryptoError("mac").detail)")
    }
    return code
  }

  /// Tells in constant time whether `code`, or its leading bytes where a short code was agreed, is right.
  package func isCode(_ code: [UInt8], for message: [UInt8], length: Int = 32) -> Bool {
    constantTimeEqual(code, Array(self.code(for: message).prefix(length)))
  }
}

// Only the borrower of a ContextPool touches it.
@safe private final class MACContext: @unchecked Sendable {
  let raw: OpaquePointer

  init?(key: [UInt8]) {
    guard let made = unsafe EVP_MAC_CTX_new(Algorithms.hmac) else { return nil }
    var parameters = unsafe [copenssl_mac_digest(), OSSL_PARAM_construct_end()]
    guard unsafe EVP_MAC_init(made, key, key.count, &parameters) == 1 else {
      unsafe EVP_MAC_CTX_free(made)
      return nil
    }
    unsafe raw = made
  }

  deinit { unsafe EVP_MAC_CTX_free(raw) }
}

/// A 32-byte subkey for one purpose (HKDF-SHA-256, RFC 5869, empty salt).
///
/// - Parameter purpose: Distinct for each use, so that no two uses share a key.
package func deriveKey(from key: [UInt8], purpose: String) throws(CryptoError) -> [UInt8] {
  guard let context = unsafe EVP_KDF_CTX_new(Algorithms.hkdf) else { throw CryptoError("derive key") }
  defer { unsafe EVP_KDF_CTX_free(context) }
  var key = key
  var derived = [UInt8](repeating: 0, count: 32)
  var label = Array(purpose.utf8)
  let done = unsafe key.withUnsafeMutableBytes { key in
    unsafe label.withUnsafeMutableBytes { label in
      var parameters = unsafe [
        copenssl_kdf_digest(), copenssl_kdf_key(key.baseAddress, key.count),
        copenssl_kdf_context(label.baseAddress, label.count), OSSL_PARAM_construct_end(),
      ]
      return unsafe EVP_KDF_derive(context, &derived, 32, &parameters)
    }
  }
  guard done == 1 else { throw CryptoError("derive key") }
  return derived
}
