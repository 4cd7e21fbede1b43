package import Domain
internal import COpenSSL

/// A key that seals small secrets for storage: AES-256-GCM (SP 800-38D), a fresh 96-bit nonce each time.
package struct SealingKey: Sendable {
  private let bytes: Secret<[UInt8]>

  /// - Parameter bytes: 32 bytes that are used for nothing else.
  package init(_ bytes: [UInt8]) {
    self.bytes = Secret(bytes)
  }

  /// Nonce, ciphertext and tag in one.
  ///
  /// - Parameter context: What the secret is and to whom it belongs; opening asks for the same, so that a
  ///   sealed value cannot be moved to another row.
  package func seal(
    _ plaintext: [UInt8], context: [UInt8], entropy: Entropy
  ) throws(CryptoError) -> [UInt8] {
    let nonce = entropy.bytes(12)
    var sealed = [UInt8](repeating: 0, count: plaintext.count)
    var tag = [UInt8](repeating: 0, count: 16)
    let done = unsafe withCipher(bytes.reveal(), nonce, context, encrypting: true) { cipher in
      var written: Int32 = 0
      var rest: Int32 = 0
      return unsafe EVP_EncryptUpdate(cipher, &sealed, &written, plaintext, Int32(plaintext.count)) == 1
        && EVP_EncryptFinal_ex(cipher, nil, &rest) == 1
        && EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_GET_TAG, 16, &tag) == 1
    }
    guard done else { throw CryptoError("seal") }
    return nonce + sealed + tag
  }

  /// The plaintext, or nil when key, context or bytes are not those of the sealing.
  package func open(_ sealed: [UInt8], context: [UInt8]) -> [UInt8]? {
    guard sealed.count >= 28 else { return nil }
    let nonce = Array(sealed.prefix(12))
    let body = Array(sealed[12..<(sealed.count - 16)])
    var tag = Array(sealed.suffix(16))
    var plaintext = [UInt8](repeating: 0, count: body.count)
    let done = unsafe withCipher(bytes.reveal(), nonce, context, encrypting: false) { cipher in
      var written: Int32 = 0
      var rest: Int32 = 0
      return unsafe EVP_DecryptUpdate(cipher, &plaintext, &written, body, Int32(body.count)) == 1
        && EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_SET_TAG, 16, &tag) == 1
        && EVP_DecryptFinal_ex(cipher, nil, &rest) == 1
    }
    guard done else {
      discardOpenSSLErrors()
      return nil
    }
    return plaintext
  }
}

/// Runs `body` with a cipher context that has key, nonce and associated data.
private func withCipher(
  _ key: [UInt8], _ nonce: [UInt8], _ associated: [UInt8], encrypting: Bool, _ body: (OpaquePointer) -> Bool
) -> Bool {
  guard let cipher = unsafe EVP_CIPHER_CTX_new() else { return false }
  defer { unsafe EVP_CIPHER_CTX_free(cipher) }
  var written: Int32 = 0
  return unsafe EVP_CipherInit_ex2(cipher, Algorithms.aes256GCM, key, nonce, encrypting ? 1 : 0, nil) == 1
    && EVP_CipherUpdate(cipher, nil, &written, associated, Int32(associated.count)) == 1
    && body(cipher)
}
