package import Domain
internal import COpenSSL

/// A key that signs with exactly one algorithm.
package final class PrivateKey: Sendable {
  package let algorithm: SignatureAlgorithm
  package let publicKey: PublicKey
  let handle: KeyHandle
  private let operations: ContextPool<KeyOperation>

  private init(algorithm: SignatureAlgorithm, handle: KeyHandle) {
    self.algorithm = algorithm
    self.handle = handle
    publicKey = PublicKey(algorithm: algorithm, handle: handle)
    operations = ContextPool(make: { KeyOperation(.sign, algorithm: algorithm, key: handle) })
  }

  /// A new key: P-256, or RSA of 2048 bits.
  package static func generate(_ algorithm: SignatureAlgorithm) throws(CryptoError) -> PrivateKey {
    let made = unsafe algorithm == .es256 ? copenssl_generate_p256() : copenssl_generate_rsa(2048)
    guard let made = unsafe made else { throw CryptoError("generate key") }
    return unsafe PrivateKey(algorithm: algorithm, handle: KeyHandle(owning: made))
  }

  /// A key from PKCS#8 DER (RFC 5208); refused unless it is P-256 or RSA of 2048 bits or more.
  package convenience init(pkcs8 der: Secret<[UInt8]>) throws(CryptoError) {
    let der = der.reveal()
    var cursor: UnsafePointer<UInt8>?
    let parsed = unsafe der.withUnsafeBufferPointer { buffer in
      unsafe cursor = buffer.baseAddress
      return unsafe d2i_AutoPrivateKey(nil, &cursor, buffer.count)
    }
    guard let parsed = unsafe parsed else { throw CryptoError("read private key") }
    try unsafe self.init(checking: KeyHandle(owning: parsed))
  }

  /// A key from PEM text, as in a `.p8` file; refused like PKCS#8 DER, and when it is encrypted.
  package convenience init(pem: Secret<[UInt8]>) throws(CryptoError) {
    let text = pem.reveal()
    guard let bio = unsafe BIO_new_mem_buf(text, Int32(text.count)) else {
      throw CryptoError("read private key")
    }
    defer { unsafe BIO_free(bio) }
    guard let parsed = unsafe PEM_read_bio_PrivateKey(bio, nil, refusePassphrase, nil) else {
      throw CryptoError("read private key")
    }
    try unsafe self.init(checking: KeyHandle(owning: parsed))
  }

  private convenience init(checking handle: KeyHandle) throws(CryptoError) {
    let bits = unsafe EVP_PKEY_get_bits(handle.raw)
    if unsafe EVP_PKEY_is_a(handle.raw, "EC") == 1, unsafe isP256(handle.raw) {
      self.init(algorithm: .es256, handle: handle)
    } else if unsafe EVP_PKEY_is_a(handle.raw, "RSA") == 1, (2048...4096).contains(bits) {
      self.init(algorithm: .rs256, handle: handle)
    } else {
      throw CryptoError(CryptoError.keyOfOtherKind)
    }
  }

  /// PKCS#8 DER, to be sealed before it is stored.
  package func pkcs8() throws(CryptoError) -> Secret<[UInt8]> {
    guard let wrapped = unsafe EVP_PKEY2PKCS8(handle.raw) else { throw CryptoError("write private key") }
    defer { unsafe PKCS8_PRIV_KEY_INFO_free(wrapped) }
    var start: UnsafeMutablePointer<UInt8>?
    let length = unsafe i2d_PKCS8_PRIV_KEY_INFO(wrapped, &start)
    guard length > 0, let start = unsafe start else { throw CryptoError("write private key") }
    defer {
      unsafe OPENSSL_cleanse(start, Int(length))
      unsafe copenssl_free(start)
    }
    return Secret(unsafe Array(UnsafeBufferPointer(start: start, count: Int(length))))
  }

  /// A signature over `message`: 64 bytes for ES256, as long as the modulus for RS256.
  package func sign(_ message: [UInt8]) throws(CryptoError) -> [UInt8] {
    let digest = sha256(message)
    let signed: [UInt8]? = operations.lend { operation in
      // A DER signature of P-256 has at most 72 bytes, an RSA one of 4096 bits 512.
      var out = [UInt8](repeating: 0, count: 512)
      var length = out.count
      guard unsafe EVP_PKEY_sign(operation.raw, &out, &length, digest, digest.count) == 1 else { return nil }
      return Array(out.prefix(length))
    }
    guard let signed else { throw CryptoError("sign") }
    guard algorithm == .es256 else { return signed }
    guard let raw = rawSignature(fromDER: signed) else { throw CryptoError("sign") }
    return raw
  }
}

/// Never asks a terminal for the passphrase of an encrypted key. Zero would be the length of an empty passphrase,
/// with which a key may well be encrypted.
private func refusePassphrase(
  _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int32, _ writing: Int32, _ context: UnsafeMutableRawPointer?
) -> Int32 { -1 }

/// Whether an EC key is one of the one curve that is used here.
func isP256(_ key: OpaquePointer) -> Bool {
  var name = [CChar](repeating: 0, count: 64)
  var length = 0
  guard unsafe EVP_PKEY_get_group_name(key, &name, name.count, &length) == 1 else { return false }
  let text = name.prefix(length).map { UInt8(bitPattern: $0) }
  return text == Array("prime256v1".utf8) || text == Array("P-256".utf8)
}
