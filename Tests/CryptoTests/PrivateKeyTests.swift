import Crypto
import Domain
import Foundation
import TestSupport
import TestProcesses
import Testing

@Suite struct PrivateKeyTests {
  @Test(arguments: SignatureAlgorithm.allCases)
  func `a key survives PKCS8`(_ algorithm: SignatureAlgorithm) throws {
    let key = try PrivateKey.generate(algorithm)
    let again = try PrivateKey(pkcs8: key.pkcs8())
    #expect(again.algorithm == algorithm)
    #expect(again.publicKey.numbers == key.publicKey.numbers)
    #expect(key.publicKey.isSignature(try again.sign([1]), for: [1]))
  }

  @Test func `a p8 file is read`() throws {
    let key = try PrivateKey(pem: Secret(Array(KeySamples.p256.utf8)))
    #expect(key.algorithm == .es256)
    #expect(TokenForge.apple.key.algorithm == .rs256)
  }

  @Test(arguments: [
    KeySamples.p384, KeySamples.secp256k1, KeySamples.ed25519, KeySamples.rsa1024, "", "not PEM",
    "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n",
    "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----",
  ])
  func `other kinds of keys and other text are refused`(_ pem: String) {
    #expect(throws: CryptoError.self) { try PrivateKey(pem: Secret(Array(pem.utf8))) }
  }

  @Test(
    .timeLimit(.minutes(3)),
    arguments: [
      KeySamples.encryptedWithWord, KeySamples.encryptedWithNothing, KeySamples.encryptedTraditional,
    ])
  func `an encrypted key is refused without asking anybody`(_ pem: String) {
    #expect(throws: CryptoError.self) { try PrivateKey(pem: Secret(Array(pem.utf8))) }
  }

  @Test func `broken PKCS8 is refused`() throws {
    let der = try PrivateKey.generate(.es256).pkcs8().reveal()
    for wrong in [
      [], [0x30], Array(der.dropLast(40)), Array(der.dropFirst()), [UInt8](repeating: 0, count: 100),
    ] {
      #expect(throws: CryptoError.self) { try PrivateKey(pkcs8: Secret(wrong)) }
    }
  }

  @Test func `an error says what was asked and leaves the rest to the log`() throws {
    let error = try #require(throws: CryptoError.self) {
      try PrivateKey(pem: Secret(Array("secret words".utf8)))
    }
    #expect(error.description == "read private key failed")
    #expect(!"\(error.detail)".contains("secret words"))
  }

  @Test(arguments: SignatureAlgorithm.allCases)
  func `a certificate is one that the openssl program reads and trusts`(_ algorithm: SignatureAlgorithm)
    async throws
  {
    let key = try PrivateKey.generate(algorithm)
    let pem = try key.selfSignedCertificate(
      name: "Bramley session tokens", serial: Entropy.seeded(1).bytes(16), notBefore: UnixTime(1_750_000_000),
      notAfter: UnixTime(4_102_444_800))
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appendingPathComponent("certificate.pem")
    try Data(pem.utf8).write(to: file)

    let text = try await openssl(["x509", "-noout", "-text", "-in", file.path])
    #expect(text.contains("Version: 3"))
    #expect(text.contains("Subject: CN = Bramley session tokens"))
    #expect(text.contains("Issuer: CN = Bramley session tokens"))
    #expect(text.contains("Not Before: Jun 15 15:06:40 2025 GMT"))
    #expect(text.contains("Not After : Jan  1 00:00:00 2100 GMT"))
    #expect(text.contains(algorithm == .es256 ? "ecdsa-with-SHA256" : "sha256WithRSAEncryption"))
    let verdict = try await openssl([
      "verify", "-check_ss_sig", "-attime", "1760000000", "-CAfile", file.path, file.path,
    ])
    #expect(verdict.hasSuffix(": OK\n"))
  }

  @Test func `a serial number is positive, at most twenty bytes, and needed`() throws {
    let key = try PrivateKey.generate(.es256)
    for serial in [[0], [0xFF], [UInt8](repeating: 0xFF, count: 30)] as [[UInt8]] {
      _ = try key.selfSignedCertificate(
        name: "n", serial: serial, notBefore: UnixTime(0), notAfter: UnixTime(1))
    }
    #expect(throws: CryptoError.self) {
      try key.selfSignedCertificate(name: "n", serial: [], notBefore: UnixTime(0), notAfter: UnixTime(1))
    }
  }
}

private func openssl(_ arguments: [String]) async throws -> String {
  let process = try ChildProcess("/usr/bin/openssl", arguments, environment: [:], folder: "/")
  #expect(try await process.ended() == .exit(0))
  return String(decoding: process.state.read(\.output), as: UTF8.self)
}
