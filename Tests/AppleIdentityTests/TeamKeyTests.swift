import AppleIdentity
import Crypto
import Domain
import Foundation
import TestSupport
import Testing
import Wire

/// The `.p8` key, and the client secrets that it signs.
@Suite struct TeamKeyTests {
  static let pem = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgzUnJ6Hw6BQ6jVfvn
    hAlAXHg5BhAFdAQHFAi5hlIXlCqhRANCAAR2y9Ilwq/DIA+4N7xtwYNIZrdxB+yv
    7fYrW2IWbC7u6CfyMAkjFTBpajHOleqaAdLTNYVwqDS/cg+yS/Wiy+qD
    -----END PRIVATE KEY-----

    """

  private static let p384 = """
    -----BEGIN PRIVATE KEY-----
    MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDANCgtjfu57esOndPq2
    VYWokZUCLePJ1Zh/x8toGUIdMpwXbqoLoQS09PVAJYLw0imhZANiAAQPmvdHwrO1
    zLg85vpsSAk5Gj3sszXBMKGBE2ZiAe2+OL5cDOqQy9WYJyaKlMi9sjG2oZ10nE+/
    fT4Ln2emIX6Bm8Ua4uDRbLa7CSXuz8Jle4sW83VKNNFaQ8aaD728TSk=
    -----END PRIVATE KEY-----

    """

  static func key() throws -> TeamKey {
    try TeamKey(team: "TEAM123456", keyID: "KEY1234567", pem: Secret(pem))
  }

  @Test func `line feeds may be literal or written as in an environment`() throws {
    for text in [Self.pem, Self.pem.replacing("\n", with: "\\n"), Self.pem.replacing("\n", with: "\\r\\n")] {
      let key = try TeamKey(team: "TEAM123456", keyID: "KEY1234567", pem: Secret(text))
      let secret = try key.clientSecret(
        for: ClientID(unchecked: "com.example.app"), at: UnixTime(1_750_000_000)
      ).reveal()
      #expect(try isSigned(secret))
    }
  }

  @Test func `what is no P-256 key with two ids is refused`() throws {
    func fault(_ team: String, _ keyID: String, _ pem: String) -> TeamKeyFault? {
      do throws(TeamKeyFault) {
        _ = try TeamKey(team: team, keyID: keyID, pem: Secret(pem))
        return nil
      } catch {
        return error
      }
    }
    for id in ["", "x", "TEAM 23456", "TEAM-12345", "TÉAM123456", "team123456", "TEAM12345", "TEAM1234567"] {
      #expect(fault(id, "KEY1234567", Self.pem) == .idMalformed)
      #expect(fault("TEAM123456", id, Self.pem) == .idMalformed)
    }
    for pem in ["", "nonsense", String(Self.pem.dropFirst(40)), Self.pem.replacing("MIGH", with: "MIGX")] {
      #expect(fault("TEAM123456", "KEY1234567", pem) == .keyUnreadable)
    }
    let rsa = try PrivateKey.generate(.rs256).pkcs8().reveal()
    let text =
      "-----BEGIN PRIVATE KEY-----\n\(Data(rsa).base64EncodedString())\n-----END PRIVATE KEY-----\n"
    #expect(fault("TEAM123456", "KEY1234567", text) == .notP256)
    // A P-384 key, which `openssl genpkey` made, is a key all right, and none of Apple's.
    #expect(fault("TEAM123456", "KEY1234567", Self.p384) == .notP256)
  }

  @Test func `two teams with one key are found out`() throws {
    let other = try TeamKey(team: "TEAM654321", keyID: "KEY7654321", pem: Secret(Self.pem))
    #expect(try Self.key().isSameKey(as: other))
    let der = Data(try PrivateKey.generate(.es256).pkcs8().reveal()).base64EncodedString()
    let fresh = "-----BEGIN PRIVATE KEY-----\n\(der)\n-----END PRIVATE KEY-----\n"
    #expect(
      try Self.key().isSameKey(as: TeamKey(team: "TEAM654321", keyID: "KEY7654321", pem: Secret(fresh)))
        == false)
  }

  @Test func `O04 O05 O07 a client secret says exactly what Apple wants, and lives minutes`() throws {
    let now = UnixTime(1_750_000_000)
    let client = ClientID(unchecked: "com.example.app")
    let text = try Self.key().clientSecret(for: client, at: now).reveal()
    let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    try #require(parts.count == 3)
    let header = try JSONObject(parsing: decodeBase64URL(parts[0].utf8))
    #expect(Set(header.names) == ["alg", "kid"])
    #expect(header.text("alg") == "ES256")
    #expect(header.text("kid") == "KEY1234567")
    let claims = try JSONObject(parsing: decodeBase64URL(parts[1].utf8))
    #expect(Set(claims.names) == ["iss", "iat", "exp", "aud", "sub"])
    #expect(claims.text("iss") == "TEAM123456")
    #expect(claims.text("aud") == "https://appleid.apple.com")
    #expect(claims.text("sub") == "com.example.app")
    #expect(try claims.optionalInteger("iat") == now.seconds - 60)
    #expect(try claims.optionalInteger("exp") == now.seconds + 300)
    // R and S, 32 bytes each, and no DER around them (TN3107).
    #expect(try decodeBase64URL(parts[2].utf8).count == 64)
    #expect(try isSigned(text))
  }

  /// Whether the key signed a client secret.
  private func isSigned(_ text: String) throws -> Bool {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    try #require(parts.count == 3)
    let key = try PrivateKey(pem: Secret(Array(Self.pem.utf8)))
    return key.publicKey.isSignature(
      try decodeBase64URL(parts[2].utf8), for: Array((parts[0] + "." + parts[1]).utf8))
  }
}
