import AppleIdentity
import Crypto
import Domain
import Settings
import Telemetry
import Testing

/// A file system of texts.
struct Files {
  var contents: [String: [UInt8]] = [:]

  func read(_ path: String) -> [UInt8]? { contents[path] }
}

func read(
  _ environment: [String: String] = [:], yaml: String? = nil, files: [String: String] = [:], cores: Int = 2,
  clients: String? = "com.example.app"
) throws(SettingsFaults) -> Settings {
  var contents = files.mapValues { Array($0.utf8) }
  if let yaml { contents["settings.yaml"] = Array(yaml.utf8) }
  var environment = environment
  if let clients, environment["BRAMLEY_APPLE_CLIENT_IDS"] == nil {
    environment["BRAMLEY_APPLE_CLIENT_IDS"] = clients
  }
  let files = Files(contents: contents)
  return try readSettings(
    environment: environment, file: yaml == nil ? nil : "settings.yaml", cores: cores, contents: files.read)
}

/// Which settings are at fault.
func faults(
  _ environment: [String: String] = [:], yaml: String? = nil, files: [String: String] = [:],
  clients: String? = "com.example.app"
) -> [String] {
  do throws(SettingsFaults) {
    _ = try read(environment, yaml: yaml, files: files, clients: clients)
    return []
  } catch {
    return error.faults.map(\.setting)
  }
}

private let keyText = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

@Suite struct SettingsReaderTests {
  @Test func `with nothing but the client ids everything has its default`() throws {
    let settings = try read()
    #expect(settings.listen.text == "127.0.0.1:8080")
    #expect(settings.publicURL == nil)
    #expect(settings.projectID == "bramley")
    #expect(settings.issuer == nil)
    #expect(settings.database.name == "bramley.db")
    #expect(settings.masterKeys == nil)
    #expect(settings.apiKeys.isEmpty)
    #expect(settings.appleRules.clients == [ClientID(unchecked: "com.example.app"): .standard])
    #expect(settings.appleRules.issuers == ["https://appleid.apple.com"])
    #expect(settings.appleRules.maximumAge == 3600)
    #expect(settings.appleRules.leeway == 60)
    #expect(settings.appleBaseURL == "https://appleid.apple.com")
    #expect(settings.sessionAlgorithm == .es256)
    #expect(settings.keyRotation == 2_592_000)
    #expect(settings.sessionTTL == 3600)
    #expect(settings.sessionIdleTTL == 2_592_000)
    #expect(settings.sessionMaxTTL == 31_536_000)
    #expect(settings.clockLeeway == 60)
    #expect(settings.retryWindow == 120)
    #expect(settings.recentLoginWindow == 300)
    #expect(settings.allowedOrigins == ["*"])
    #expect(settings.threads == 2)
    #expect(settings.logLevel == .info)
    #expect(settings.warnings.isEmpty)
  }

  @Test func `attack 2 the client ids are required`() {
    #expect(faults(clients: nil) == ["BRAMLEY_APPLE_CLIENT_IDS"])
    #expect(faults(clients: " , ") == ["BRAMLEY_APPLE_CLIENT_IDS"])
  }

  @Test(arguments: [
    ("SESSION_TTL", 600, 86_400), ("SESSION_IDLE_TTL", 600, 315_360_000),
    ("SESSION_MAX_TTL", 600, 315_360_000),
    ("CLOCK_LEEWAY", 0, 300), ("RETRY_WINDOW", 0, 3600), ("RECENT_LOGIN_WINDOW", 0, 86_400),
    ("THREADS", 1, 64),
    ("APPLE_MAX_TOKEN_AGE", 1, 86_400),
  ])
  func `numbers have bounds, and both ends are allowed`(_ name: String, _ least: Int, _ most: Int) {
    let variable = "BRAMLEY_" + name
    for good in [least, most] { #expect(faults([variable: String(good)]) == []) }
    #expect(faults([variable: " \(least) "]) == [])
    for bad in [
      String(least - 1), String(most + 1), "", " ", "-1", "+700", "1e3", "700s", "7 00", "0x10", "७००",
      "99999999999999999999",
    ] {
      #expect(faults([variable: bad]) == [variable])
    }
  }

  @Test(arguments: [(0, 1), (1, 1), (16, 16), (500, 64)])
  func `threads follow the cores, within bounds`(_ cores: Int, _ threads: Int) throws {
    #expect(try read(cores: cores).threads == threads)
  }

  @Test(arguments: [
    ("127.0.0.1:0", "127.0.0.1", 0), ("[::1]:8080", "::1", 8080), ("localhost:65535", "localhost", 65_535),
  ])
  func `a listen address is host and port`(_ text: String, _ host: String, _ port: UInt16) throws {
    let listen = try read(["BRAMLEY_LISTEN": text]).listen
    #expect(listen.host == host)
    #expect(listen.port == port)
    #expect(listen.text == text)
  }

  @Test(arguments: [
    "", "8080", ":8080", "host", "host:", "host:x", "host:65536", "host:-1", "host:+80", "::1:8080", "[::1]",
    "[]:80",
    "[::1:80", "::1]:80", "ho st:80", "host:8 0", "http://host:80",
  ])
  func `anything else is none`(_ text: String) {
    #expect(faults(["BRAMLEY_LISTEN": text]) == ["BRAMLEY_LISTEN"])
  }

  @Test(arguments: ["0.0.0.0:80", "[::]:80", "[::0]:80", "[0:0:0:0:0:0:0:0]:80", "0:80"])
  func `listening on every address needs a public URL`(_ listen: String) {
    #expect(faults(["BRAMLEY_LISTEN": listen]) == ["BRAMLEY_PUBLIC_URL"])
    #expect(faults(["BRAMLEY_LISTEN": listen, "BRAMLEY_PUBLIC_URL": "https://auth.example.com"]) == [])
  }

  @Test(arguments: [
    "", "auth.example.com", "https://", "https:///path", "ftp://host", "https://host/", "https://host?x",
    "https://host#x",
    "https://user:secret@host", "https://ho st", "https://höst", "https://host\\path",
  ])
  func `a public URL and an issuer that is no URL is a fault`(_ text: String) {
    #expect(faults(["BRAMLEY_PUBLIC_URL": text]) == ["BRAMLEY_PUBLIC_URL"])
    #expect(faults(["BRAMLEY_ISSUER": text]) == ["BRAMLEY_ISSUER"])
  }

  @Test func `an issuer is a URL or firebase's`() throws {
    #expect(try read(["BRAMLEY_ISSUER": "https://auth.example.com/a"]).issuer == "https://auth.example.com/a")
    let settings = try read(["BRAMLEY_ISSUER": "firebase", "BRAMLEY_PROJECT_ID": "my-project"])
    #expect(settings.issuer == "https://securetoken.google.com/my-project")
    #expect(faults(["BRAMLEY_ISSUER": "https://session.firebase.google.com/bramley"]) == ["BRAMLEY_ISSUER"])
  }

  @Test(arguments: ["", "a b", "a/b", "é", "a\"b", String(repeating: "a", count: 65)])
  func `a project id is a short name`(_ text: String) {
    #expect(faults(["BRAMLEY_PROJECT_ID": text]) == ["BRAMLEY_PROJECT_ID"])
  }

  @Test(arguments: [
    "", "sqlite:", "sqlite::memory:", "bramley.db", "SQLITE:x", "mysql://x", "postgres:x",
  ])
  func `a database is a file of SQLite, or on a server of PostgreSQL's`(_ text: String) {
    #expect(faults(["BRAMLEY_DATABASE_URL": text]) == ["BRAMLEY_DATABASE_URL"])
  }

  @Test(arguments: [
    "postgres://bram:hunter@2secret@127.0.0.1:25432/main", "postgres://u:hunter2/secret@host/x",
    "postgres://u:p@host:notaport/x", "postgres://u:p@a:1,b:x/y", "postgres://bram:p%zz@h/x",
    "postgres://h/x?a=%4",
  ])
  func `a URL that libpq would misread is refused`(_ url: String) {
    let key = "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0ISE="
    #expect(
      faults(["BRAMLEY_DATABASE_URL": url, "BRAMLEY_MASTER_KEY": key]) == ["BRAMLEY_DATABASE_URL"])
  }

  @Test(arguments: [
    "postgres://h/x?foo=bar", "postgres://h/x?sslmode", "postgres://h/x?sslmode=require&",
    "postgres://h/x?SSLMODE=require", "postgres://h/x?replication=true", "postgres://h/x?ssl=false",
    "postgres://", "postgres://h", "postgres://h/", "postgres://u@h:5432?sslmode=require", "postgres:///",
  ])
  func `a URL with what libpq does not know, or without a database, is refused in words`(_ url: String) throws
  {
    let key = "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0ISE="
    let error = try #require(throws: SettingsFaults.self) {
      try read(["BRAMLEY_DATABASE_URL": url, "BRAMLEY_MASTER_KEY": key])
    }
    let words = error.faults.map { "\($0)" }.joined()
    #expect(error.faults.map(\.setting) == ["BRAMLEY_DATABASE_URL"])
    #expect(words.contains(url.contains("/x") ? "target_session_attrs" : "must name a database"), "\(words)")
    #expect(!words.contains("foo"))
  }

  @Test(arguments: [
    "postgres://u:hush@host/db?sslmode=verify-full", "postgresql://host/db",
    "postgres://a:1,b:2/db?target_session_attrs=read-write&connect_timeout=2", "postgres:///db?host=/run/x",
    "postgres://?host=a&dbname=b", "postgres://host/db?ssl=true",
  ])
  func `a database on a server needs a master key that all nodes have`(_ url: String) throws {
    #expect(faults(["BRAMLEY_DATABASE_URL": url]) == ["BRAMLEY_MASTER_KEY"])
    let key = "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0ISE="
    let settings = try read(["BRAMLEY_DATABASE_URL": url, "BRAMLEY_MASTER_KEY": key])
    guard case .postgres(let kept) = settings.database else {
      Issue.record("it is not taken for a server")
      return
    }
    #expect(kept.reveal() == url)
    #expect(!settings.database.name.contains("hush"))
    #expect(
      faults(["BRAMLEY_DATABASE_URL": url, "BRAMLEY_MASTER_KEY": key, "BRAMLEY_DEV_MODE": "true"])
        == ["BRAMLEY_DEV_MODE"])
  }

  @Test func `a database path is taken as it is`() throws {
    #expect(
      try read(["BRAMLEY_DATABASE_URL": "sqlite:/var/lib/bramley/a b.db"]).database.name
        == "/var/lib/bramley/a b.db")
  }

  @Test func `master keys are a list of thirty-two bytes each`() throws {
    let keys = try #require(
      try read(["BRAMLEY_MASTER_KEY": " \(keyText) ,\(String(repeating: "A", count: 43))="]).masterKeys)
    #expect(keys.map { $0.reveal() } == [Array(0..<32), [UInt8](repeating: 0, count: 32)])
    for bad in ["", ",", "AAAA", keyText + keyText, keyText + ",AAAA", String(repeating: "A", count: 43)] {
      #expect(faults(["BRAMLEY_MASTER_KEY": bad]) == ["BRAMLEY_MASTER_KEY"])
    }
  }

  @Test func `A05 lists are split and trimmed`() throws {
    let settings = try read([
      "BRAMLEY_API_KEYS": " one, two ,,three,", "BRAMLEY_APPLE_ISSUERS": "https://a, https://b",
      "BRAMLEY_APPLE_CLIENT_IDS": "com.a, com.b ,com.c",
    ])
    #expect(settings.apiKeys.map { $0.reveal() } == ["one", "two", "three"])
    #expect(settings.appleRules.issuers == ["https://a", "https://b"])
    #expect(Set(settings.appleRules.clients.keys.map(\.text)) == ["com.a", "com.b", "com.c"])
    #expect(faults(["BRAMLEY_APPLE_ISSUERS": ","]) == ["BRAMLEY_APPLE_ISSUERS"])
  }

  @Test(arguments: [
    ("com.a", NonceRule.Form.sha256, false, 0), ("com.a:nonce=sha256", .sha256, false, 0),
    ("com.a:nonce=raw", .raw, false, 1), ("com.a:nonce=challenge", .sha256, true, 0),
    ("com.a:nonce=raw+challenge", .raw, true, 0),
  ])
  func `N19 a client has one nonce rule`(
    _ text: String, _ form: NonceRule.Form, _ demandsChallenge: Bool, _ warnings: Int
  ) throws {
    let settings = try read(clients: text)
    #expect(
      settings.appleRules.clients[ClientID(unchecked: "com.a")]
        == NonceRule(form: form, demandsChallenge: demandsChallenge))
    #expect(settings.warnings.count == warnings)
  }

  @Test(arguments: [
    "com.a:", "com.a:nonce", "com.a:nonce=", "com.a:nonce=none", "com.a:nonce=RAW", "com.a:raw",
    "com.a:nonce=raw:x",
    ":nonce=raw", "com.a nonce=raw", "com.ä", "com.a,com.a", "com.a,com.a:nonce=raw",
  ])
  func `other rules, and a client named twice, are faults`(_ text: String) {
    #expect(faults(clients: text) == ["BRAMLEY_APPLE_CLIENT_IDS"])
  }

  @Test func `A08 an id without a dot is warned about`() throws {
    #expect(try read(clients: "1596750535,com.example.app").warnings.count == 1)
  }

  @Test(arguments: [
    "http://localhost:9000", "http://127.0.0.1", "http://127.8.9.1:80/apple", "http://[::1]:9000",
    "http://[::1]",
    "https://apple.example.com",
  ])
  func `Apple's base URL is https, or http on this machine`(_ url: String) throws {
    #expect(try read(["BRAMLEY_APPLE_BASE_URL": url]).appleBaseURL == url)
  }

  @Test(arguments: [
    "http://appleid.apple.com", "http://localhost.evil.example", "http://127.0.0.1.evil.example",
    "http://127.evil.example",
    "http://[::1].evil.example", "http://[::1]evil", "http://[::2]", "http://127.0.0.1.5",
    "http://127.0.0..1", "http://1270.0.0.1",
    "http://user@127.0.0.1", "http://127.0.0.1:80x", "https://appleid.apple.com/", "", "appleid.apple.com",
    "http://127.0.0.256",
  ])
  func `attack 33 any other base URL is a fault`(_ url: String) {
    #expect(faults(["BRAMLEY_APPLE_BASE_URL": url]) == ["BRAMLEY_APPLE_BASE_URL"])
  }

  @Test func `words are taken as they are written in the manual`() throws {
    #expect(try read(["BRAMLEY_SESSION_ALG": "RS256"]).sessionAlgorithm == .rs256)
    for bad in ["", "rs256", "HS256", "none"] {
      #expect(faults(["BRAMLEY_SESSION_ALG": bad]) == ["BRAMLEY_SESSION_ALG"])
    }
    #expect(try read(["BRAMLEY_LOG_LEVEL": "warning"]).logLevel == .warning)
    for bad in ["", "INFO", "trace"] { #expect(faults(["BRAMLEY_LOG_LEVEL": bad]) == ["BRAMLEY_LOG_LEVEL"]) }
  }

  @Test func `origins are a star or exact origins`() throws {
    #expect(
      try read(["BRAMLEY_ALLOWED_ORIGINS": "https://a.example, http://localhost:3000"]).allowedOrigins
        == ["https://a.example", "http://localhost:3000"])
    #expect(try read(["BRAMLEY_ALLOWED_ORIGINS": ""]).allowedOrigins == [])
    for bad in [
      "https://a.example/", "https://a.example/x", "a.example", "*,https://a.example", "*.example", "null",
    ] {
      #expect(faults(["BRAMLEY_ALLOWED_ORIGINS": bad]) == ["BRAMLEY_ALLOWED_ORIGINS"])
    }
  }

  @Test func `unknown settings are faults, other variables are not ours`() {
    #expect(faults(["BRAMLEY_SESION_TTL": "1", "PATH": "/bin", "BRAMBLE": "x"]) == ["BRAMLEY_SESION_TTL"])
    #expect(faults(["BRAMLEY_": "x"]) == ["BRAMLEY_"])
    #expect(faults(["BRAMLEY_LISTEN_FILE": "x"]) == ["BRAMLEY_LISTEN_FILE"])
  }

  @Test func `all faults are told at once`() {
    let found = faults(
      [
        "BRAMLEY_LISTEN": "x", "BRAMLEY_SESSION_TTL": "1", "BRAMLEY_SESSION_ALG": "none", "BRAMLEY_NONE": "x",
        "BRAMLEY_MASTER_KEY": "x",
      ], yaml: "threads: 0\nother: 1\n", clients: nil)
    #expect(
      Set(found) == [
        "BRAMLEY_LISTEN", "BRAMLEY_SESSION_TTL", "BRAMLEY_SESSION_ALG", "BRAMLEY_NONE", "BRAMLEY_MASTER_KEY",
        "BRAMLEY_THREADS", "BRAMLEY_APPLE_CLIENT_IDS", "settings.yaml: other",
      ])
    #expect(found.count == 8)
  }

  @Test func `no fault repeats a secret`() throws {
    let error = try #require(throws: SettingsFaults.self) {
      try read(["BRAMLEY_MASTER_KEY": "hunter2", "BRAMLEY_MASTER_KEY_FILE": "/f"], files: ["/f": "hunter3"])
    }
    #expect(!"\(error)".contains("hunter"))
  }
}

@Suite struct ListenerSettingsTests {
  @Test func `rates are a count and a unit, or off`() throws {
    let rates = try read([
      "BRAMLEY_RATE_SIGNIN": "5/s", "BRAMLEY_RATE_REFRESH": "off", "BRAMLEY_RATE_SIGNUP": "7/d",
    ]).rates
    #expect(
      rates == Rates(signIn: Rate(count: 5, period: 1), refresh: nil, signUp: Rate(count: 7, period: 86_400)))
    let standard = try read().rates
    #expect(
      standard
        == Rates(
          signIn: Rate(count: 30, period: 60), refresh: Rate(count: 60, period: 60),
          signUp: Rate(count: 100, period: 3600)))
    for bad in [
      "", "30", "30/", "/m", "0/m", "-1/m", "+5/m", "30/x", "30 /m", "30/m/m", "1000001/m", "OFF", "1e3/m",
    ] {
      #expect(faults(["BRAMLEY_RATE_SIGNIN": bad]) == ["BRAMLEY_RATE_SIGNIN"])
    }
  }

  @Test func `trusted proxies are networks`() throws {
    #expect(try read(["BRAMLEY_TRUSTED_PROXIES": "10.0.0.0/8, fd00::/8,127.0.0.1"]).trustedProxies.count == 3)
    #expect(try read().trustedProxies.isEmpty)
    for bad in ["10.0.0.1/8", "proxy.example", "10.0.0.0/33"] {
      #expect(faults(["BRAMLEY_TRUSTED_PROXIES": bad]) == ["BRAMLEY_TRUSTED_PROXIES"])
    }
  }

  @Test func `certificate and key belong together and are read`() throws {
    let tls = try read(["BRAMLEY_TLS_CERT": "/c", "BRAMLEY_TLS_KEY": "/k"], files: ["/c": "C", "/k": "K"]).tls
    #expect(tls?.certificate == Array("C".utf8))
    #expect(tls?.privateKey.reveal() == Array("K".utf8))
    #expect(faults(["BRAMLEY_TLS_CERT": "/c"], files: ["/c": "C"]) == ["BRAMLEY_TLS_CERT"])
    #expect(faults(["BRAMLEY_TLS_KEY": "/k"], files: ["/k": "K"]) == ["BRAMLEY_TLS_KEY"])
    #expect(
      faults(["BRAMLEY_TLS_CERT": "/c", "BRAMLEY_TLS_KEY": "/k"], files: ["/c": "C"]) == ["BRAMLEY_TLS_KEY"])
  }

  @Test func `the operators' listener is an address like the other`() throws {
    #expect(try read(["BRAMLEY_ADMIN_LISTEN": "127.0.0.1:9090"]).adminListen?.text == "127.0.0.1:9090")
    #expect(faults(["BRAMLEY_ADMIN_LISTEN": "9090"]) == ["BRAMLEY_ADMIN_LISTEN"])
  }
}

@Suite struct SecretSettingsTests {
  @Test func `a secret may come from a file, without its last line feed`() throws {
    let settings = try read(
      ["BRAMLEY_MASTER_KEY_FILE": "/run/key", "BRAMLEY_API_KEYS_FILE": "/run/keys"],
      files: ["/run/key": keyText + "\n", "/run/keys": "one,two\r\n"])
    #expect(settings.masterKeys?.map { $0.reveal() } == [Array(0..<32)])
    #expect(settings.apiKeys.map { $0.reveal() } == ["one", "two"])
  }

  @Test func `a file that is not there is a fault`() {
    #expect(faults(["BRAMLEY_MASTER_KEY_FILE": "/none"]) == ["BRAMLEY_MASTER_KEY_FILE"])
  }

  @Test func `a secret given twice in one place is a fault`() {
    #expect(
      faults(["BRAMLEY_MASTER_KEY": keyText, "BRAMLEY_MASTER_KEY_FILE": "/f"], files: ["/f": keyText])
        == ["BRAMLEY_MASTER_KEY"])
  }

  @Test func `the environment wins over the file, also by way of a secret's file`() throws {
    let yaml = "session_ttl: 700\napi_keys: fromfile\nretry_window: 5\n"
    let settings = try read(
      ["BRAMLEY_SESSION_TTL": "800", "BRAMLEY_API_KEYS_FILE": "/f"], yaml: yaml, files: ["/f": "fromenv"])
    #expect(settings.sessionTTL == 800)
    #expect(settings.apiKeys.map { $0.reveal() } == ["fromenv"])
    #expect(settings.retryWindow == 5)
  }

  @Test func `print shows every setting, its source, and no secret`() {
    let files = Files(contents: [
      "settings.yaml": Array("session_ttl: 700\napi_keys: [hunter3]\n".utf8), "/k": Array("hunter2".utf8),
    ])
    let printed = printedSettings(
      environment: [
        "BRAMLEY_MASTER_KEY_FILE": "/k", "BRAMLEY_DATABASE_URL": "postgres://ada:hunter4@host/db?x=a@b",
        "BRAMLEY_LISTEN": "x",
      ], file: "settings.yaml", contents: files.read)
    #expect(printed.count == allSettings.count)
    #expect(printed.map(\.variable) == allSettings.map(\.variable))
    #expect(!"\(printed)".contains("hunter"))
    func setting(_ name: String) -> PrintedSetting? { printed.first { $0.variable == name } }
    #expect(setting("BRAMLEY_SESSION_TTL")?.text == "700")
    #expect(setting("BRAMLEY_SESSION_TTL")?.source == "settings.yaml: session_ttl")
    #expect(setting("BRAMLEY_MASTER_KEY")?.text == "[redacted]")
    #expect(setting("BRAMLEY_MASTER_KEY")?.source == "BRAMLEY_MASTER_KEY_FILE")
    #expect(setting("BRAMLEY_API_KEYS")?.text == "[redacted]")
    #expect(setting("BRAMLEY_THREADS")?.source == nil)
    #expect(setting("BRAMLEY_THREADS")?.text == "cores")
  }

  @Test(arguments: [
    ("postgres://ada:hunter2@host/db", "postgres://ada:[redacted]@host/db"),
    ("postgres://ada@host/db", "postgres://ada@host/db"),
    ("postgres://ada:p@hunter2@host", "postgres://ada:[redacted]@host"), ("sqlite:a.db", "sqlite:a.db"),
    ("a@b://c", "[redacted]"), ("://@:", "[redacted]"), ("x@y://z:w@h", "[redacted]"),
    ("host=/x dbname=b user=app password=hunter2", "[redacted]"), (" sqlite:b.db", " sqlite:b.db"),
    ("", ""),
    ("postgres://:hunter2@h", "postgres://:[redacted]@h"),
  ])
  func `print hides the password of a URL, whatever stands there`(_ text: String, _ shown: String) {
    let printed = printedSettings(
      environment: ["BRAMLEY_DATABASE_URL": text], file: nil, contents: { _ in nil })
    #expect(printed.first { $0.variable == "BRAMLEY_DATABASE_URL" }?.text == shown)
  }

  @Test func `every setting has a name, a default and a meaning`() {
    #expect(Set(allSettings.map(\.name)).count == allSettings.count)
    for setting in allSettings {
      #expect(setting.variable == "BRAMLEY_" + setting.name.uppercased())
      #expect(!setting.defaultText.isEmpty)
      #expect(!setting.meaning.isEmpty)
    }
  }
}
