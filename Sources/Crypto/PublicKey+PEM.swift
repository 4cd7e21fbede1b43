internal import COpenSSL

extension PublicKey {
  /// The keys of PEM text (RFC 7468): one for each `PUBLIC KEY` (§13) and each `CERTIFICATE` (§5), in order. Of a
  /// certificate only the key counts, not its dates and not who signed it: who wrote it down trusts the key.
  ///
  /// Refused whole when there is none, when a block is of another kind, a private key above all, and when a key is
  /// neither P-256 nor an RSA key that ``init(rsaModulus:exponent:)`` takes.
  package static func keys(inPEM text: [UInt8]) throws(CryptoError) -> [PublicKey] {
    guard let blocks = pemBlocks(in: text), !blocks.isEmpty else { throw CryptoError("read public keys") }
    var keys: [PublicKey] = []
    for block in blocks { keys.append(try block.key()) }
    return keys
  }
}

/// The blocks of a text; nil when one is broken off or no base64.
private func pemBlocks(in text: [UInt8]) -> [PEMBlock]? {
  unsafe text.withUnsafeBytes { bytes in
    guard let bio = unsafe BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count)) else {
      return nil
    }
    defer { unsafe BIO_free(bio) }
    // The end of the text is told by an error, which must be this call's.
    discardOpenSSLErrors()
    var blocks: [PEMBlock] = []
    while let block = unsafe PEMBlock(from: bio) { blocks.append(block) }
    guard ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE else { return nil }
    discardOpenSSLErrors()
    return blocks
  }
}

/// One block of PEM text.
private struct PEMBlock {
  private let label: String
  private let der: [UInt8]

  /// The next block; nil at the end of the text, and where a block is broken off.
  init?(from bio: OpaquePointer) {
    var name: UnsafeMutablePointer<CChar>?
    var header: UnsafeMutablePointer<CChar>?
    var contents: UnsafeMutablePointer<UInt8>?
    var length = 0
    guard unsafe PEM_read_bio(bio, &name, &header, &contents, &length) == 1 else { return nil }
    defer {
      unsafe copenssl_free(name)
      unsafe copenssl_free(header)
      unsafe copenssl_free(contents)
    }
    label = unsafe name.map { unsafe String(cString: $0) } ?? ""
    der = unsafe Array(UnsafeBufferPointer(start: contents, count: length))
  }

  func key() throws(CryptoError) -> PublicKey {
    let parsed: OpaquePointer?
    switch label {
    case "PUBLIC KEY": unsafe parsed = parse { unsafe d2i_PUBKEY(nil, &$0, $1) }
    case "CERTIFICATE":
      let certificate = unsafe parse { unsafe d2i_X509(nil, &$0, $1) }
      defer { unsafe X509_free(certificate) }
      unsafe parsed = unsafe certificate.flatMap { unsafe X509_get_pubkey($0) }
    default: throw CryptoError("public key refused")
    }
    guard let parsed = unsafe parsed else { throw CryptoError("read public keys") }
    return try unsafe PublicKey(checking: KeyHandle(owning: parsed))
  }

  private func parse(
    _ read: (inout UnsafePointer<UInt8>?, Int) -> OpaquePointer?
  ) -> OpaquePointer? {
    unsafe der.withUnsafeBufferPointer { buffer in
      var cursor = buffer.baseAddress
      return unsafe read(&cursor, buffer.count)
    }
  }
}

extension PublicKey {
  /// The same key built from its numbers, so that every key passes the same checks.
  fileprivate convenience init(checking handle: KeyHandle) throws(CryptoError) {
    if unsafe EVP_PKEY_is_a(handle.raw, "RSA") == 1, let n = handle.number(OSSL_PKEY_PARAM_RSA_N),
      let e = handle.number(OSSL_PKEY_PARAM_RSA_E)
    {
      try self.init(rsaModulus: n, exponent: e)
    } else if unsafe EVP_PKEY_is_a(handle.raw, "EC") == 1, unsafe isP256(handle.raw),
      let x = handle.number(OSSL_PKEY_PARAM_EC_PUB_X, width: 32),
      let y = handle.number(OSSL_PKEY_PARAM_EC_PUB_Y, width: 32)
    {
      try self.init(p256X: x, y: y)
    } else {
      throw CryptoError("public key refused")
    }
  }
}
