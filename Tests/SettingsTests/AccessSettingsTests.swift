import Crypto
import Domain
import Settings
import Testing

/// Made with the `openssl` program, and used nowhere else.
private let publicKey = """
  -----BEGIN PUBLIC KEY-----
  MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEdsvSJcKvwyAPuDe8bcGDSGa3cQfs
  r+32K1tiFmwu7ugn8jAJIxUwaWoxzpXqmgHS0zWFcKg0v3IPskv1osvqgw==
  -----END PUBLIC KEY-----
  """
private let rsaKey = """
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
private let smallKey = """
  -----BEGIN PUBLIC KEY-----
  MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQCvyQHmDXON9EITG2MYIGos2muE
  DWyvKMJpjJRMsSORDcV+2RopMz6Y320tIJsXX+tmVlOITOLt/iiMSp8h3Sbjy9RM
  xBsdN1SsoHOfuS2JXsCRIJ/wWPaA8mBo1kQrqrC1sy9EgGFIGWg0O4XfFdLRQJa2
  NG+VaYbHi5J7gaBsJwIDAQAB
  -----END PUBLIC KEY-----
  """
private let privateKey = """
  -----BEGIN EC PRIVATE KEY-----
  MHcCAQEEIM1Jyeh8OgUOo1X754QJQFx4OQYQBXQEBxQIuYZSF5QqoAoGCCqGSM49
  AwEHoUQDQgAEdsvSJcKvwyAPuDe8bcGDSGa3cQfsr+32K1tiFmwu7ugn8jAJIxUw
  aWoxzpXqmgHS0zWFcKg0v3IPskv1osvqgw==
  -----END EC PRIVATE KEY-----
  """
private let token = "0123456789abcdef"

private let goodTokens: [(text: String, tokens: [String: String])] = [
  (token, ["admin": token]), (" \(token) ", ["admin": token]), (token + "==", ["admin": token + "=="]),
  ("ada=" + token, ["ada": token]), ("ada=\(token)==", ["ada": token + "=="]),
  ("ada=\(token), b.o-b_2=\(token)x ,", ["ada": token, "b.o-b_2": token + "x"]),
  (String(repeating: "a", count: 64) + "=" + token, [String(repeating: "a", count: 64): token]),
]

@Suite struct AccessSettingsTests {
  @Test func `nothing of it is on unless it is set`() throws {
    let settings = try read()
    #expect(settings.adminTokens.isEmpty)
    #expect(!settings.isDevMode)
    #expect(settings.accountLinking == .off)
    #expect(!settings.allowsAnonymous)
    #expect(settings.customTokenKeys.isEmpty)
  }

  @Test(arguments: goodTokens)
  func `an admin token is one, or several with names`(_ text: String, _ tokens: [String: String]) throws {
    #expect(try read(["BRAMLEY_ADMIN_TOKEN": text]).adminTokens.mapValues { $0.reveal() } == tokens)
    #expect(
      try read(["BRAMLEY_ADMIN_TOKEN_FILE": "/t"], files: ["/t": text + "\n"]).adminTokens.mapValues {
        $0.reveal()
      } == tokens)
  }

  @Test(arguments: [
    "", " ", ",", "0123456789abcde", "ada=0123456789abcde", "\(token),\(token)", "ada=\(token),\(token)",
    "ada=\(token),ada=\(token)x", "=\(token)", "a da=\(token)", "a/b=\(token)", "ä=\(token)",
    "0123456789 abcdef", "ada=0123456789äbcdef", String(repeating: "a", count: 65) + "=" + token,
  ])
  func `a short or nameless token, and a name twice, are faults that repeat no secret`(_ text: String) {
    #expect(faults(["BRAMLEY_ADMIN_TOKEN": text]) == ["BRAMLEY_ADMIN_TOKEN"])
    let error = #expect(throws: SettingsFaults.self) { try read(["BRAMLEY_ADMIN_TOKEN": text]) }
    #expect(error.map { !"\($0)".contains("456789") } == true)
  }

  @Test func `development is true or false`() throws {
    #expect(try read(["BRAMLEY_DEV_MODE": "true"]).isDevMode)
    #expect(try read(["BRAMLEY_DEV_MODE": "true"]).warnings.count == 1)
    #expect(try !read(["BRAMLEY_DEV_MODE": "false", "BRAMLEY_TRUSTED_PROXIES": "10.0.0.0/8"]).isDevMode)
    for bad in ["", "yes", "1", "TRUE", "on"] {
      #expect(faults(["BRAMLEY_DEV_MODE": bad]) == ["BRAMLEY_DEV_MODE"])
    }
  }

  @Test(arguments: ["127.0.0.1:0", "127.9.9.9:80", "[::1]:80", "localhost:80"])
  func `development is for this machine`(_ listen: String) throws {
    let environment = ["BRAMLEY_DEV_MODE": "true", "BRAMLEY_LISTEN": listen, "BRAMLEY_ADMIN_LISTEN": listen]
    #expect(faults(environment) == [])
    for url in ["http://localhost:9099", "https://127.0.0.1", "https://[::1]:8443"] {
      #expect(faults(environment.merging(["BRAMLEY_PUBLIC_URL": url]) { $1 }) == [])
    }
  }

  @Test(arguments: [
    ("BRAMLEY_LISTEN", "10.0.0.1:80"), ("BRAMLEY_LISTEN", "bramley.example:80"),
    ("BRAMLEY_ADMIN_LISTEN", "0.0.0.0:80"), ("BRAMLEY_PUBLIC_URL", "https://auth.example.com"),
    ("BRAMLEY_PUBLIC_URL", "https://localhost.evil.example"), ("BRAMLEY_TRUSTED_PROXIES", "127.0.0.1"),
  ])
  func `development beside anything that others reach is a fault`(_ variable: String, _ value: String) {
    #expect(faults(["BRAMLEY_DEV_MODE": "true", variable: value]) == ["BRAMLEY_DEV_MODE"])
  }

  @Test func `development tells all that stands against it`() {
    let found = faults([
      "BRAMLEY_DEV_MODE": "true", "BRAMLEY_LISTEN": "0.0.0.0:80", "BRAMLEY_ADMIN_LISTEN": "[::]:81",
      "BRAMLEY_PUBLIC_URL": "https://auth.example.com", "BRAMLEY_TRUSTED_PROXIES": "10.0.0.0/8",
      "BRAMLEY_DATABASE_URL": "postgres://host/db",
    ])
    #expect(found.count { $0 == "BRAMLEY_DEV_MODE" } == 5)
  }

  @Test func `accounts join and go without an identity where that is said`() throws {
    let settings = try read(["BRAMLEY_ACCOUNT_LINKING": "verified-email", "BRAMLEY_ANONYMOUS": "true"])
    #expect(settings.accountLinking == .verifiedEmail)
    #expect(settings.allowsAnonymous)
    #expect(
      try read(["BRAMLEY_ACCOUNT_LINKING": "off", "BRAMLEY_ANONYMOUS": "false"]).accountLinking == .off)
    for bad in ["", "on", "email", "verified_email", "OFF"] {
      #expect(faults(["BRAMLEY_ACCOUNT_LINKING": bad]) == ["BRAMLEY_ACCOUNT_LINKING"])
    }
    for bad in ["", "yes", "0"] { #expect(faults(["BRAMLEY_ANONYMOUS": bad]) == ["BRAMLEY_ANONYMOUS"]) }
  }

  @Test func `keys of custom tokens are PEM, with line feeds in either spelling, or a file`() throws {
    let both = publicKey + "\n" + rsaKey
    let inOneLine = both.split(separator: "\n").joined(separator: "\\n")
    for text in [both, inOneLine, inOneLine + "\\n"] {
      let keys = try read(["BRAMLEY_CUSTOM_TOKEN_KEYS": text]).customTokenKeys
      #expect(keys.map(\.algorithm) == [.es256, .rs256])
    }
    let file = try read(["BRAMLEY_CUSTOM_TOKEN_KEYS_FILE": "/k"], files: ["/k": both + "\n"])
    #expect(file.customTokenKeys.count == 2)
    let block = both.split(separator: "\n").map { "  " + $0 }.joined(separator: "\n")
    #expect(try read(yaml: "custom_token_keys: |\n" + block + "\n").customTokenKeys.count == 2)
    #expect(
      try read(yaml: "custom_token_keys_file: /k\n", files: ["/k": both]).customTokenKeys.count == 2)
  }

  @Test func `at most sixteen keys, none of another kind, and never a private one`() throws {
    let sixteen = Array(repeating: publicKey, count: 16).joined(separator: "\n")
    #expect(try read(["BRAMLEY_CUSTOM_TOKEN_KEYS": sixteen]).customTokenKeys.count == 16)
    for bad in [
      sixteen + "\n" + rsaKey, "", "PEM", smallKey, privateKey, publicKey + "\n" + smallKey,
      String(publicKey.dropLast(30)),
    ] {
      #expect(faults(["BRAMLEY_CUSTOM_TOKEN_KEYS": bad]) == ["BRAMLEY_CUSTOM_TOKEN_KEYS"])
    }
  }

  @Test(
    arguments: [
      ("com.example.app:/signed-in", true), ("com.example.app://host", true),
      ("com.example.app://host/path", true),
      ("com.example.app:///path", true), ("com.example.app:/a?from=apple", true),
      ("https://example.com", true),
      ("https://example.com:8443/a?b=c", true), ("http://127.0.0.1:3000/a", true),
      ("http://localhost/", true),
      ("com.example.app:", false), ("com.example.app:/", false), ("com.example.app://", false),
      ("com.example.app:///", false), ("com.example.app:opaque", false), ("com.example.app:?a=b", false),
      ("com.example.app://ada@host/", false), ("https://ada@example.com/", false), ("https://", false),
      ("https:///path", false), ("https:/path", false), ("https://example.com:0/", false),
      ("http://127.0.0.1:0/", false), ("com.example.app://host:0", false), ("http://example.com/", false),
      ("https://example.com/#part", false), ("com.example.app:/a#b", false),
      ("https://example.com/?state=x", false),
      ("https://example.com/?a=b&code=", false), ("https://example.com/?error", false),
      ("com.example.app:/a?error_description=x", false), ("https://example.com/?%63ode=x", false),
      ("javascript:alert(1)", false), ("example:/path", false), ("1.app:/path", false), ("/path", false),
      ("", true),
    ] as [(String, Bool)])
  func `where the web flow may end is a whole address, without what the answer adds`(
    _ url: String, _ isGood: Bool
  ) {
    let name = "BRAMLEY_RETURN_URLS"
    #expect(faults([name: url]) == (isGood ? [] : [name]))
    #expect(faults([name: "https://example.com/good, " + url]) == (isGood ? [] : [name]))
  }

  @Test func `print shows public keys on one line, and no token`() {
    let printed = printedSettings(
      environment: ["BRAMLEY_CUSTOM_TOKEN_KEYS": publicKey, "BRAMLEY_ADMIN_TOKEN": "ada=" + token], file: nil,
      contents: { _ in nil })
    #expect(!"\(printed)".contains(token))
    let keys = printed.first { $0.variable == "BRAMLEY_CUSTOM_TOKEN_KEYS" }?.text
    #expect(keys?.hasPrefix("-----BEGIN PUBLIC KEY-----\\nM") == true)
    #expect(keys?.contains("\n") == false)
  }

  @Test func `tokens and keys change without a restart, the rest not`() {
    func changed(_ variable: String, _ value: String) -> [String] {
      let none = { (_: String) -> [UInt8]? in nil }
      return settingsForRestart(
        printedSettings(environment: [:], file: nil, contents: none),
        printedSettings(environment: [variable: value], file: nil, contents: none))
    }
    #expect(changed("BRAMLEY_ADMIN_TOKEN", token) == [])
    #expect(changed("BRAMLEY_CUSTOM_TOKEN_KEYS", publicKey) == [])
    for (variable, value) in [
      ("BRAMLEY_DEV_MODE", "true"), ("BRAMLEY_ACCOUNT_LINKING", "verified-email"),
      ("BRAMLEY_ANONYMOUS", "true"),
    ] {
      #expect(changed(variable, value) == [variable])
    }
  }
}
