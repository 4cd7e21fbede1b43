import Crypto
import Domain
import Testing

/// Public keys and certificates that exist for these tests only, made with the `openssl` program.
private enum Samples {
  static let p256 = """
    -----BEGIN PUBLIC KEY-----
    MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEdsvSJcKvwyAPuDe8bcGDSGa3cQfs
    r+32K1tiFmwu7ugn8jAJIxUwaWoxzpXqmgHS0zWFcKg0v3IPskv1osvqgw==
    -----END PUBLIC KEY-----
    """

  static let certificate = """
    -----BEGIN CERTIFICATE-----
    MIIBdjCCAR2gAwIBAgIUUjp9L83CI3SdnNW5w3theMKrrvMwCgYIKoZIzj0EAwIw
    ETEPMA0GA1UEAwwGc2FtcGxlMB4XDTI2MTEzMDA2MTYzNloXDTI2MTIwMTA2MTYz
    NlowETEPMA0GA1UEAwwGc2FtcGxlMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE
    dsvSJcKvwyAPuDe8bcGDSGa3cQfsr+32K1tiFmwu7ugn8jAJIxUwaWoxzpXqmgHS
    0zWFcKg0v3IPskv1osvqg6NTMFEwHQYDVR0OBBYEFJeN1IotkstQ0c57OcIZXeQp
    ZJxSMB8GA1UdIwQYMBaAFJeN1IotkstQ0c57OcIZXeQpZJxSMA8GA1UdEwEB/wQF
    MAMBAf8wCgYIKoZIzj0EAwIDRwAwRAIgekpwYTwNUUBq6xvlpHWuDEOAkhPWtO+U
    HJr6JW8PGZ8CIGR5Re0dV12Ii702NkNIOVa+qlHVK61oSUYal2SS6X0k
    -----END CERTIFICATE-----
    """

  static let rsa2048 = """
    -----BEGIN PUBLIC KEY-----
    MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAo/gBYJcuHy+QidUHTRFV
    8rQU9yQ1DY55gefA+LRM4/Db48Mg6K+Il8Kh7G1e/syn5Ud3eWwRdCCYFujJzZ0W
    C5jRk/BRiMC030RiFGZkfy9pB5VuXpEkSvoWD8x5dAEMc9WWhBtMm5+E+MxuFcBF
    7+TaliQx8JNgzL5g+pvmZKyNqs5aYUwuwIsZFA9Sr7iI79E4lYOGWjXwL+SylDpS
    hu4RF8JrHL2qub1XDrExGbZKPNOUDVh64E+fjR5bmxI6DI7kOpMaZQkyRAxNRYZL
    UTb1oXPk/dcDOsb9hKCPJQJUmkKlEsAsppNXm48ijS+kxqyunzcTa3GWKsUvKQ6V
    XwIDAQAB
    -----END PUBLIC KEY-----
    """

  static let rsa1024 = """
    -----BEGIN PUBLIC KEY-----
    MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQCvyQHmDXON9EITG2MYIGos2muE
    DWyvKMJpjJRMsSORDcV+2RopMz6Y320tIJsXX+tmVlOITOLt/iiMSp8h3Sbjy9RM
    xBsdN1SsoHOfuS2JXsCRIJ/wWPaA8mBo1kQrqrC1sy9EgGFIGWg0O4XfFdLRQJa2
    NG+VaYbHi5J7gaBsJwIDAQAB
    -----END PUBLIC KEY-----
    """

  static let ed25519 = """
    -----BEGIN PUBLIC KEY-----
    MCowBQYDK2VwAyEANvdfdg7ZaLy0vmZj6G+nYX79VMNwJ/AZYl4r/FYwthc=
    -----END PUBLIC KEY-----
    """

  static let p384 = """
    -----BEGIN PUBLIC KEY-----
    MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAE2HEZDs2Db1WFrIh2pBoFFwrrxjWVx0i+
    gany+5DMpsf0HNYHlLTGwcrbmHrFPR2rX4ygSakXiXsohDOmQCg/zHjXqJOwGK53
    X3xX7FkQtZeG+XUA3fgf0pif0CBwal/4
    -----END PUBLIC KEY-----
    """

  static let rsaPSS = """
    -----BEGIN PUBLIC KEY-----
    MIIBIDALBgkqhkiG9w0BAQoDggEPADCCAQoCggEBALZp6lzYPi/00SWjcxdQBajt
    cDg54dXzPw3WEonSZhe01Lu3K7np6GETNVj+kzdNJd1y+4tChZqv0f3v/P6VSQmX
    FFADDr91Cc4MKYgqhCKnKkvDO77NOjrvIlIu85L91kKWHmTrh/iFl9MxzcvGmjLG
    OgvTeG9b3I1ux5PAULLywqvUvTzRkvTsEUuF3Py93W/C9HToz8fVsY36xkrHFLa0
    GRW782vdNZwg/uudkX8ZCN/dQVm4G3NqgceYxue+sdnpj3BmGyh2sTxJSBKWYXIK
    BCM5ffZYWtr3lxjEYrubma2Rfn39sOhtZaId5eHvcgCRtSh2r2d+YPfsGVM4ez0C
    AwEAAQ==
    -----END PUBLIC KEY-----
    """

  static let pkcs1 = """
    -----BEGIN RSA PUBLIC KEY-----
    MIIBCgKCAQEAo/gBYJcuHy+QidUHTRFV8rQU9yQ1DY55gefA+LRM4/Db48Mg6K+I
    l8Kh7G1e/syn5Ud3eWwRdCCYFujJzZ0WC5jRk/BRiMC030RiFGZkfy9pB5VuXpEk
    SvoWD8x5dAEMc9WWhBtMm5+E+MxuFcBF7+TaliQx8JNgzL5g+pvmZKyNqs5aYUwu
    wIsZFA9Sr7iI79E4lYOGWjXwL+SylDpShu4RF8JrHL2qub1XDrExGbZKPNOUDVh6
    4E+fjR5bmxI6DI7kOpMaZQkyRAxNRYZLUTb1oXPk/dcDOsb9hKCPJQJUmkKlEsAs
    ppNXm48ijS+kxqyunzcTa3GWKsUvKQ6VXwIDAQAB
    -----END RSA PUBLIC KEY-----
    """
}

private func keys(_ text: String) throws -> [PublicKey] { try PublicKey.keys(inPEM: Array(text.utf8)) }

@Suite struct PublicKeyPEMTests {
  @Test func `keys are read in their order, each with its one algorithm`() throws {
    let text = [Samples.rsa2048, "", "a word between", Samples.p256].joined(separator: "\n") + "\n\n"
    let found = try keys(text)
    #expect(found.map(\.algorithm) == [.rs256, .es256])
    guard case .rsa(let n, let e) = found[0].numbers else {
      Issue.record("not RSA")
      return
    }
    #expect(n.count == 256)
    #expect(e == [1, 0, 1])
  }

  @Test func `a certificate's key is the key, whatever its dates are`() throws {
    #expect(try keys(Samples.certificate).map(\.numbers) == keys(Samples.p256).map(\.numbers))
  }

  @Test func `a key verifies what its private half signed`() throws {
    let key = try PrivateKey.generate(.es256)
    let text = try key.selfSignedCertificate(
      name: "sample", serial: [1], notBefore: UnixTime(0), notAfter: UnixTime(1))
    let message = Array("message".utf8)
    let found = try #require(try keys(text).first)
    #expect(found.isSignature(try key.sign(message), for: message))
    #expect(!found.isSignature(try key.sign(message), for: message + [0]))
  }

  @Test func `line ends of Windows and no line end at all are taken`() throws {
    #expect(try keys(Samples.p256.split(separator: "\n").joined(separator: "\r\n")).count == 1)
    #expect(try keys(Samples.p256).count == 1)
  }

  @Test(arguments: [
    Samples.rsa1024, Samples.ed25519, Samples.p384, Samples.rsaPSS, Samples.pkcs1, KeySamples.p256,
    KeySamples.encryptedWithWord, "", "not PEM", "-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----",
    "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----",
    "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----",
    String(Samples.p256.dropLast(30)), Samples.p256.replacing("PUBLIC KEY", with: "CERTIFICATE"),
  ])
  func `other kinds of keys and other text are refused, beside a good key too`(_ text: String) {
    #expect(throws: CryptoError.self) { try keys(text) }
    // Text that is no block may stand between blocks.
    if text.contains("BEGIN") {
      #expect(throws: CryptoError.self) { try keys(Samples.p256 + "\n" + text) }
      #expect(throws: CryptoError.self) { try keys(text + "\n" + Samples.p256) }
    }
  }

  @Test func `a refusal leaves nothing behind for the next`() throws {
    #expect(throws: CryptoError.self) { try keys("-----BEGIN PUBLIC KEY-----\nAAAA") }
    #expect(try keys(Samples.p256).count == 1)
  }
}
