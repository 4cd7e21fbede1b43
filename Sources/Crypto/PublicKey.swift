internal import COpenSSL

/// A key that verifies signatures of exactly one algorithm; the algorithm belongs to the key, never to a token.
package final class PublicKey: Sendable {
  package let algorithm: SignatureAlgorithm
  private let handle: KeyHandle
  private let operations: ContextPool<KeyOperation>

  init(algorithm: SignatureAlgorithm, handle: KeyHandle) {
    self.algorithm = algorithm
    self.handle = handle
    operations = ContextPool(make: { KeyOperation(.verify, algorithm: algorithm, key: handle) })
  }

  /// An RSA key from big-endian numbers; refused unless it has 2048 to 4096 bits, an odd exponent from 65537
  /// to 32 bits, and a modulus that the flawed generator of CVE-2017-15361 cannot have made.
  package convenience init(rsaModulus n: [UInt8], exponent e: [UInt8]) throws(CryptoError) {
    let exponent = e.count <= 4 ? e.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } : 0
    guard let top = n.first, top != 0, (2041...4096).contains(n.count * 8), let low = n.last, low & 1 == 1,
      n.count * 8 - top.leadingZeroBitCount >= 2048, exponent >= 65537, exponent & 1 == 1, e.first != 0,
      !isWeakROCAModulus(n)
    else { throw CryptoError("RSA key refused") }
    // The builder copies numbers only when the parameters are made: they live until then.
    guard let modulus = BigNumber(n), let power = BigNumber(e) else { throw CryptoError("make key") }
    let made = withExtendedLifetime((modulus, power)) {
      unsafe makeKey("RSA") { unsafe copenssl_push_rsa($0, modulus.raw, power.raw) == 1 }
    }
    guard let handle = made else { throw CryptoError("make key") }
    self.init(algorithm: .rs256, handle: handle)
  }

  /// A P-256 key from its two 32-byte coordinates; refused unless the point is on the curve.
  package convenience init(p256X x: [UInt8], y: [UInt8]) throws(CryptoError) {
    guard x.count == 32, y.count == 32 else { throw CryptoError("P-256 key refused") }
    let point = [0x04] + x + y
    let made = unsafe point.withUnsafeBytes { point in
      unsafe makeKey("EC") { unsafe copenssl_push_p256($0, point.baseAddress, point.count) == 1 }
    }
    guard let handle = made else { throw CryptoError("make key") }
    self.init(algorithm: .es256, handle: handle)
  }

  /// Tells whether `signature` is this key's over `message`.
  package func isSignature(_ signature: [UInt8], for message: [UInt8]) -> Bool {
    let encoded: [UInt8]
    switch algorithm {
    case .rs256: encoded = signature
    case .es256:
      guard let der = derSignature(fromRaw: signature) else { return false }
      encoded = der
    }
    let digest = sha256(message)
    let isRight: Bool? = operations.lend { operation in
      unsafe EVP_PKEY_verify(operation.raw, encoded, encoded.count, digest, digest.count) == 1
    }
    if isRight != true { discardOpenSSLErrors() }
    return isRight == true
  }

  /// Modulus and exponent, or the two coordinates: the numbers of RFC 7518 §6 as bytes.
  package var numbers: KeyNumbers? {
    switch algorithm {
    case .rs256:
      guard let n = handle.number(OSSL_PKEY_PARAM_RSA_N), let e = handle.number(OSSL_PKEY_PARAM_RSA_E) else {
        return nil
      }
      return .rsa(n: n, e: e)
    case .es256:
      guard let x = handle.number(OSSL_PKEY_PARAM_EC_PUB_X, width: 32),
        let y = handle.number(OSSL_PKEY_PARAM_EC_PUB_Y, width: 32)
      else { return nil }
      return .p256(x: x, y: y)
    }
  }
}

/// What a public key consists of, big-endian.
package enum KeyNumbers: Sendable, Equatable {
  case rsa(n: [UInt8], e: [UInt8])
  case p256(x: [UInt8], y: [UInt8])
}

/// Builds a public key of OpenSSL type `type` from the parameters that `push` adds. What they point at must live
/// for the whole call.
private func makeKey(_ type: String, _ push: (OpaquePointer) -> Bool) -> KeyHandle? {
  guard let builder = unsafe OSSL_PARAM_BLD_new() else { return nil }
  defer { unsafe OSSL_PARAM_BLD_free(builder) }
  guard unsafe push(builder), let parameters = unsafe OSSL_PARAM_BLD_to_param(builder) else { return nil }
  defer { unsafe OSSL_PARAM_free(parameters) }
  guard let context = unsafe EVP_PKEY_CTX_new_from_name(nil, type, nil) else { return nil }
  defer { unsafe EVP_PKEY_CTX_free(context) }
  var made: OpaquePointer?
  guard unsafe EVP_PKEY_fromdata_init(context) == 1,
    unsafe EVP_PKEY_fromdata(context, &made, copenssl_public_key_selection(), parameters) == 1,
    let made = unsafe made
  else { return nil }
  return unsafe KeyHandle(owning: made)
}

/// Owns a big number.
@safe private final class BigNumber {
  let raw: OpaquePointer

  init?(_ bytes: [UInt8]) {
    guard let made = unsafe BN_bin2bn(bytes, Int32(bytes.count), nil) else { return nil }
    unsafe raw = made
  }

  deinit { unsafe BN_free(raw) }
}

/// The fingerprint of CVE-2017-15361 ("ROCA"): modulo each of these primes such a modulus is a power of 65537,
/// which a good one is for all of them at once only by a chance of less than one in a hundred million
/// (Nemec et al., "The Return of Coppersmith's Attack", CCS 2017, §4).
private func isWeakROCAModulus(_ n: [UInt8]) -> Bool {
  let primes: [UInt32] = [
    3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101, 103,
    107,
    109, 113, 127, 131, 137, 139, 149, 151, 157, 163, 167,
  ]
  return primes.allSatisfy { prime in
    let residue = n.reduce(UInt32(0)) { ($0 << 8 | UInt32($1)) % prime }
    var power: UInt32 = 1
    repeat {
      if power == residue { return true }
      power = power * (65537 % prime) % prime
    } while power != 1
    return false
  }
}
