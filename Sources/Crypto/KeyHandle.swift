internal import COpenSSL

/// Owns one reference to an OpenSSL key.
// EVP_PKEY is immutable once made; its count is atomic (openssl-threads(7)).
@safe final class KeyHandle: @unchecked Sendable {
  let raw: OpaquePointer

  /// Takes ownership of `raw`.
  init(owning raw: OpaquePointer) { unsafe self.raw = raw }

  deinit { unsafe EVP_PKEY_free(raw) }

  /// A number of the key as big-endian bytes, padded on the left to `width` where one is given.
  func number(_ name: String, width: Int? = nil) -> [UInt8]? {
    var value: OpaquePointer?
    guard unsafe EVP_PKEY_get_bn_param(raw, name, &value) == 1, let number = unsafe value else {
      discardOpenSSLErrors()
      return nil
    }
    defer { unsafe BN_clear_free(number) }
    let length = unsafe width ?? Int(BN_num_bits(number) + 7) / 8
    var bytes = [UInt8](repeating: 0, count: length)
    return unsafe BN_bn2binpad(number, &bytes, Int32(length)) == Int32(length) ? bytes : nil
  }
}

/// One prepared operation on one key; asked again and again (EVP_PKEY_verify(3), "more than once").
// Only the borrower of a ContextPool touches it.
@safe final class KeyOperation: @unchecked Sendable {
  let raw: OpaquePointer
  private let key: KeyHandle

  enum Kind { case sign, verify }

  init?(_ kind: Kind, algorithm: SignatureAlgorithm, key: KeyHandle) {
    guard let made = unsafe EVP_PKEY_CTX_new_from_pkey(nil, key.raw, nil) else { return nil }
    let begun = unsafe kind == .sign ? EVP_PKEY_sign_init(made) : EVP_PKEY_verify_init(made)
    let padded = unsafe algorithm != .rs256 || EVP_PKEY_CTX_set_rsa_padding(made, RSA_PKCS1_PADDING) == 1
    let ready = unsafe begun == 1 && padded && EVP_PKEY_CTX_set_signature_md(made, Algorithms.sha256) == 1
    guard ready else {
      unsafe EVP_PKEY_CTX_free(made)
      discardOpenSSLErrors()
      return nil
    }
    self.key = key
    unsafe raw = made
  }

  deinit { unsafe EVP_PKEY_CTX_free(raw) }
}

/// The two signature algorithms of this project (RFC 7518 §3.3, §3.4).
package enum SignatureAlgorithm: String, Sendable, CaseIterable {
  /// RSASSA-PKCS1-v1_5 with SHA-256, keys of 2048 bits or more.
  case rs256 = "RS256"
  /// ECDSA on P-256 with SHA-256; signatures are the fixed 64 bytes of JOSE.
  case es256 = "ES256"
}
