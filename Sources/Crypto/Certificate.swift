package import Domain
internal import COpenSSL

extension PrivateKey {
  /// A self-signed X.509 certificate that carries the public key, as PEM: the form in which Firebase's
  /// verifiers expect keys. It proves nothing but possession, so its dates are wide.
  ///
  /// - Parameters:
  ///   - name: The common name.
  ///   - serial: At most 20 bytes (RFC 5280 §4.1.2.2).
  ///   - notBefore, notAfter: Its dates.
  package func selfSignedCertificate(
    name: String, serial: [UInt8], notBefore: UnixTime, notAfter: UnixTime
  ) throws(CryptoError) -> String {
    guard let certificate = unsafe X509_new() else { throw CryptoError("make certificate") }
    defer { unsafe X509_free(certificate) }
    let subject = unsafe X509_get_subject_name(certificate)
    let filled =
      unsafe X509_set_version(certificate, 2) == 1
      && setSerial(serial, of: certificate)
      && ASN1_TIME_set(X509_getm_notBefore(certificate), time_t(notBefore.seconds)) != nil
      && ASN1_TIME_set(X509_getm_notAfter(certificate), time_t(notAfter.seconds)) != nil
      && X509_NAME_add_entry_by_txt(
        subject, "CN", MBSTRING_UTF8, Array(name.utf8), Int32(name.utf8.count), -1, 0)
        == 1
      && X509_set_issuer_name(certificate, subject) == 1
      && X509_set_pubkey(certificate, handle.raw) == 1
      && X509_sign(certificate, handle.raw, Algorithms.sha256) > 0
    guard filled, let bio = unsafe BIO_new(BIO_s_mem()) else { throw CryptoError("make certificate") }
    defer { unsafe BIO_free(bio) }
    var start: UnsafeMutablePointer<CChar>?
    guard unsafe PEM_write_bio_X509(bio, certificate) == 1 else { throw CryptoError("make certificate") }
    let length = unsafe copenssl_memory_contents(bio, &start)
    let text = unsafe UnsafeRawBufferPointer(start: start, count: length)
    return unsafe String(decoding: text, as: UTF8.self)
  }
}

private func setSerial(_ serial: [UInt8], of certificate: OpaquePointer) -> Bool {
  // A leading zero bit keeps the number positive; a leading one bit keeps its length.
  var bytes = Array(serial.prefix(20))
  guard let first = bytes.first else { return false }
  bytes[0] = first & 0x7F | 0x40
  guard let number = unsafe BN_bin2bn(bytes, Int32(bytes.count), nil) else { return false }
  defer { unsafe BN_free(number) }
  return unsafe BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != nil
}
