internal import COpenSSL

/// DER as OpenSSL wants it, from the 64 bytes R‖S of RFC 7518 §3.4; nil for any other length.
///
/// R or S of zero, or not below the order, is refused by the verification itself.
func derSignature(fromRaw raw: [UInt8]) -> [UInt8]? {
  guard raw.count == 64, let signature = unsafe ECDSA_SIG_new() else { return nil }
  defer { unsafe ECDSA_SIG_free(signature) }
  let r = unsafe BN_bin2bn(Array(raw[0..<32]), 32, nil)
  let s = unsafe BN_bin2bn(Array(raw[32..<64]), 32, nil)
  // Takes ownership of both on success only.
  guard unsafe ECDSA_SIG_set0(signature, r, s) == 1 else {
    unsafe BN_free(r)
    unsafe BN_free(s)
    return nil
  }
  var start: UnsafeMutablePointer<UInt8>?
  let length = unsafe i2d_ECDSA_SIG(signature, &start)
  defer { unsafe copenssl_free(start) }
  guard length > 0, let start = unsafe start else { return nil }
  return unsafe Array(UnsafeBufferPointer(start: start, count: Int(length)))
}

/// The 64 bytes R‖S of a DER signature that OpenSSL made.
func rawSignature(fromDER der: [UInt8]) -> [UInt8]? {
  var cursor: UnsafePointer<UInt8>?
  let parsed = unsafe der.withUnsafeBufferPointer { buffer in
    unsafe cursor = buffer.baseAddress
    return unsafe d2i_ECDSA_SIG(nil, &cursor, buffer.count)
  }
  guard let signature = unsafe parsed else { return nil }
  defer { unsafe ECDSA_SIG_free(signature) }
  var raw = [UInt8](repeating: 0, count: 64)
  let done = unsafe raw.withUnsafeMutableBufferPointer { buffer in
    guard let start = buffer.baseAddress else { return false }
    return unsafe BN_bn2binpad(ECDSA_SIG_get0_r(signature), start, 32) == 32
      && BN_bn2binpad(ECDSA_SIG_get0_s(signature), start.advanced(by: 32), 32) == 32
  }
  return done ? raw : nil
}
