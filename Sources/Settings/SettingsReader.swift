internal import Domain
internal import AppleIdentity
internal import Crypto
internal import Sessions
internal import Telemetry

/// Reads the settings, or tells everything that is wrong with them.
///
/// - Parameters:
///   - environment: The process's environment.
///   - file: Path of a YAML file, if one was named.
///   - cores: What `threads` is when nothing is set.
///   - contents: Reads a file whole; nil when it cannot be read.
package func readSettings(
  environment: [String: String], file: String?, cores: Int, contents: (String) -> [UInt8]?
) throws(SettingsFaults) -> Settings {
  var reader = SettingsReader(RawSettings(environment: environment, file: file, contents: contents))
  let listen = reader.address("listen") ?? Settings.Listen(host: "127.0.0.1", port: 8080)
  let projectID = reader.projectID()
  let apple = reader.appleRules()
  let adminListen = reader.address("admin_listen")
  let publicURL = reader.publicURL(for: listen)
  let trustedProxies = reader.trustedProxies()
  let isDevMode = reader.devMode(
    listeners: [("listen", listen), ("admin_listen", adminListen)], publicURL: publicURL, trustedProxies)
  let sessionMaxTTL = reader.number("session_max_ttl", 600...315_360_000, default: 31_536_000)
  let recentLoginWindow = reader.number("recent_login_window", 0...86_400, default: 300)
  let settings = Settings(
    listen: listen, adminListen: adminListen, tls: reader.tls(contents),
    publicURL: publicURL, projectID: projectID,
    issuer: reader.issuer(projectID: projectID), database: reader.database(),
    masterKeys: reader.masterKeys(), apiKeys: reader.list("api_keys").map { Secret($0) },
    serviceKeys: reader.list("service_keys").map { Secret($0) },
    adminTokens: reader.adminTokens(), isDevMode: isDevMode,
    appleRules: apple.rules, appleBaseURL: reader.appleBaseURL(), appleKey: reader.teamKey("apple_"),
    oldAppleKey: reader.teamKey("apple_old_"),
    revalidationEndsSessions: reader.flag("revalidate_ends_sessions", default: true),
    accountDeletedPolicy: reader.accountDeletedPolicy(), webhook: reader.webhook(),
    firebase: reader.firebase(
      leeway: apple.rules.leeway, recentLoginWindow: recentLoginWindow, sessionMaxTTL: sessionMaxTTL),
    sessionAlgorithm: reader.sessionAlgorithm(),
    keyRotation: reader.number("key_rotation", 0...315_360_000, default: 2_592_000),
    sessionTTL: reader.number("session_ttl", Limits.sessionTokenSeconds, default: 3600),
    sessionIdleTTL: reader.number("session_idle_ttl", 600...315_360_000, default: 2_592_000),
    sessionMaxTTL: sessionMaxTTL,
    sessionMaximum: Int(reader.number("session_max_per_user", 0...10_000, default: 0)),
    auditRetention: reader.number("audit_retention", 86_400...3_153_600_000, default: 31_536_000),
    clockLeeway: apple.rules.leeway, retryWindow: reader.number("retry_window", 0...3600, default: 120),
    recentLoginWindow: recentLoginWindow,
    accountLinking: reader.accountLinking(), allowsAnonymous: reader.flag("anonymous"),
    customTokenKeys: reader.customTokenKeys(), returnURLs: reader.returnURLs(),
    allowedOrigins: reader.allowedOrigins(),
    rates: Rates(
      signIn: reader.rate("rate_signin", default: Rate(count: 30, period: 60)),
      refresh: reader.rate("rate_refresh", default: Rate(count: 60, period: 60)),
      signUp: reader.rate("rate_signup", default: Rate(count: 100, period: 3600))),
    trustedProxies: trustedProxies,
    threads: Int(reader.number("threads", 1...64, default: Int64(min(max(cores, 1), 64)))),
    logLevel: reader.logLevel(), warnings: apple.warnings + (isDevMode ? [devModeWarning] : []))
  guard reader.raw.faults.isEmpty else { throw SettingsFaults(faults: reader.raw.faults) }
  return settings
}

private let devModeWarning = "dev_mode is on: everybody on this machine is an administrator"

/// One setting as `config print` shows it.
package struct PrintedSetting: Sendable, Equatable {
  package let variable: String
  /// The value, `[redacted]` for a secret, or the default.
  package let text: String
  /// Where it was set; nil for a default.
  package let source: String?
}

/// All settings with their values, secrets hidden.
package func printedSettings(
  environment: [String: String], file: String?, contents: (String) -> [UInt8]?
) -> [PrintedSetting] {
  let raw = RawSettings(environment: environment, file: file, contents: contents)
  return allSettings.map { setting in
    guard let value = raw.values[setting.name] else {
      return PrintedSetting(variable: setting.variable, text: setting.defaultText, source: nil)
    }
    return PrintedSetting(
      variable: setting.variable,
      text: setting.isSecret || setting.name == "database_url" && !isDatabaseURL(value.text)
        ? "[redacted]" : withoutPassword(onOneLine(value.text), hidesQuery: setting.name == "webhook_url"),
      source: value.source)
  }
}

/// What changed between two looks at the settings and needs a restart; a secret only when it came or went.
package func settingsForRestart(_ before: [PrintedSetting], _ after: [PrintedSetting]) -> [String] {
  let needsRestart = Set(allSettings.filter { !$0.isReloadable }.map(\.variable))
  return zip(before, after).filter { $0.text != $1.text && needsRestart.contains($0.variable) }.map(
    \.0.variable)
}

/// Line feeds as they may be written in the environment, so that one setting is one line.
private func onOneLine(_ text: String) -> String {
  text.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\\n")
}

/// Whether the passwords in it are where they can be found. libpq takes other forms as well, which are refused here, but somebody
/// may have set one.
private func isDatabaseURL(_ text: String) -> Bool {
  text.isEmpty || ["sqlite:", "postgres://", "postgresql://"].contains { trimmed(text).hasPrefix($0) }
}

/// A URL without its passwords: behind the user name, and in the query.
///
/// - Parameter hidesQuery: Whether every value of the query may be one.
private func withoutPassword(_ text: String, hidesQuery: Bool) -> String {
  let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).map { String($0) }
  guard parts.count == 2 else { return withoutUserPassword(text) }
  let query = parts[1].split(separator: "&", omittingEmptySubsequences: false).map { pair in
    let name = String(pair.prefix { $0 != "=" })
    return hidesQuery || lowercase(name).contains("pass") ? name + "=[redacted]" : String(pair)
  }
  return withoutUserPassword(parts[0]) + "?" + query.joined(separator: "&")
}

private func withoutUserPassword(_ text: String) -> String {
  guard let scheme = text.utf8.firstRange(of: "://".utf8),
    let at = text.utf8.lastIndex(of: UInt8(ascii: "@")), scheme.upperBound <= at,
    let colon = text.utf8[scheme.upperBound..<at].firstIndex(of: UInt8(ascii: ":"))
  else { return text }
  return text[..<colon] + ":[redacted]" + text[at...]
}

/// Turns text into values. A fault is noted and a stand-in returned, so that one run finds all of them.
struct SettingsReader {
  var raw: RawSettings

  init(_ raw: RawSettings) { self.raw = raw }

  func text(_ name: String) -> String? {
    raw.values[name].map { trimmed($0.text) }
  }

  /// The items of a comma list, trimmed; empty ones are left out.
  func list(_ name: String) -> [String] {
    (text(name) ?? "").split(separator: ",").map { trimmed($0) }.filter { !$0.isEmpty }
  }

  mutating func number(_ name: String, _ range: ClosedRange<Int64>, default standard: Int64) -> Int64 {
    guard let text = text(name) else { return standard }
    guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(text),
      range.contains(number)
    else {
      raw.fault(name, "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
      return standard
    }
    return number
  }

  mutating func flag(_ name: String, default standard: Bool = false) -> Bool {
    switch text(name) {
    case nil: return standard
    case "false": return false
    case "true": return true
    default:
      raw.fault(name, "must be true or false")
      return standard
    }
  }

  mutating func address(_ name: String) -> Settings.Listen? {
    guard let text = text(name) else { return nil }
    guard let address = listenAddress(text) else {
      raw.fault(name, "must be host:port, such as 127.0.0.1:8080 or [::]:8080")
      return nil
    }
    return address
  }

  mutating func tls(_ contents: (String) -> [UInt8]?) -> Settings.TLSFiles? {
    guard let certificate = text("tls_cert"), let key = text("tls_key") else {
      for name in ["tls_cert", "tls_key"] where text(name) != nil {
        raw.fault(name, "is no use alone: tls_cert and tls_key belong together")
      }
      return nil
    }
    let files = [("tls_cert", certificate), ("tls_key", key)].map { name, path in
      let bytes = contents(path)
      if bytes == nil { raw.fault(name, "the file that it names cannot be read") }
      return bytes ?? []
    }
    return Settings.TLSFiles(certificate: files[0], privateKey: Secret(files[1]))
  }

  mutating func rate(_ name: String, default standard: Rate) -> Rate? {
    guard let text = text(name) else { return standard }
    if text == "off" { return nil }
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    let periods: [Substring: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
    guard parts.count == 2, let period = periods[parts[1]], let count = Int64(parts[0]),
      (1...1_000_000).contains(count), parts[0].utf8.first != UInt8(ascii: "+")
    else {
      raw.fault(name, "must be `off` or a count and a unit, such as 30/m (s, m, h or d)")
      return standard
    }
    return Rate(count: count, period: period)
  }

  mutating func trustedProxies() -> [Network] {
    list("trusted_proxies").compactMap { text in
      let network = Network(text)
      if network == nil {
        raw.fault("trusted_proxies", "`\(text)` is no network such as 10.0.0.0/8 or fd00::/8")
      }
      return network
    }
  }

  mutating func publicURL(for listen: Settings.Listen) -> String? {
    guard let text = text("public_url") else {
      if listen.isWildcard { raw.fault("public_url", "is required when listening on every address") }
      return nil
    }
    if !isURL(text, schemes: ["https://", "http://"]) {
      raw.fault("public_url", "must be an http or https URL without a slash at its end")
    }
    return text
  }

  mutating func projectID() -> String {
    let id = text("project_id") ?? "bramley"
    if !isName(id) {
      raw.fault("project_id", "must be 1 to 64 letters, digits, `-`, `_` or `.`")
    }
    return id
  }

  mutating func issuer(projectID: String) -> String? {
    guard let text = text("issuer") else { return nil }
    if text == "firebase" { return "https://securetoken.google.com/\(projectID)" }
    if !isURL(text, schemes: ["https://", "http://"]) {
      raw.fault("issuer", "must be `firebase`, or an http or https URL without a slash at its end")
    }
    // Session cookies have this one, so that neither passes for the other.
    if text.hasPrefix("https://session.firebase.google.com/") {
      raw.fault("issuer", "must not be the issuer of session cookies")
    }
    return text
  }

  mutating func database() -> Settings.Database {
    let url = text("database_url") ?? "sqlite:bramley.db"
    if ["postgres://", "postgresql://"].contains(where: url.hasPrefix) {
      if url.utf8.contains(0) { raw.fault("database_url", "must not hold a zero byte") }
      if let fault = postgresURLFault(url) { raw.fault("database_url", fault) }
      if raw.values["master_key"] == nil {
        raw.fault("master_key", "is required with PostgreSQL: every node needs the same")
      }
      return .postgres(url: Secret(url))
    }
    let path = url.hasPrefix("sqlite:") ? String(url.dropFirst("sqlite:".count)) : ""
    if path.isEmpty || path == ":memory:" || path.utf8.contains(0) {
      raw.fault("database_url", "must be sqlite:PATH with the path of a file, or a postgres:// URL")
    }
    return .sqlite(path: path)
  }

  mutating func masterKeys() -> [Secret<[UInt8]>]? {
    guard raw.values["master_key"] != nil else { return nil }
    let keys = list("master_key").map { masterKeyBytes(fromText: $0) }
    if keys.isEmpty || keys.contains(where: { $0 == nil }) {
      raw.fault("master_key", "must be the base64 of exactly 32 bytes, or a comma list of such")
    }
    return keys.compactMap { $0 }
  }

  mutating func appleRules() -> (rules: IdentityTokenRules, warnings: [String]) {
    var clients: [ClientID: NonceRule] = [:]
    var warnings: [String] = []
    let entries = list("apple_client_ids")
    if entries.isEmpty {
      raw.fault("apple_client_ids", "is required: the bundle ids and Services IDs that people sign in to")
    }
    for entry in entries {
      let parts = entry.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      let rule = parts.count > 1 ? nonceRules[String(parts[1])] : .standard
      guard let client = ClientID(String(parts[0])), let rule else {
        raw.fault(
          "apple_client_ids",
          "`\(entry)` must be an id, or id:nonce= with sha256, raw, challenge or raw+challenge")
        continue
      }
      if clients.updateValue(rule, forKey: client) != nil {
        raw.fault("apple_client_ids", "names `\(client)` twice")
      }
      if !client.text.utf8.contains(UInt8(ascii: ".")) {
        warnings.append("`\(client)` has no dot: an App Store number is no client id")
      }
      if rule.form == .raw, !rule.demandsChallenge {
        warnings.append("`\(client)` has nonce=raw without a challenge, which stops no thief of a token")
      }
    }
    let issuers = raw.values["apple_issuers"] == nil ? ["https://appleid.apple.com"] : list("apple_issuers")
    if issuers.isEmpty { raw.fault("apple_issuers", "must name at least one issuer") }
    let rules = IdentityTokenRules(
      issuers: issuers, clients: clients,
      maximumAge: number("apple_max_token_age", 1...86_400, default: 3600),
      leeway: number("clock_leeway", Limits.clockLeeway, default: 60))
    return (rules, warnings)
  }

  mutating func appleBaseURL() -> String {
    let url = text("apple_base_url") ?? "https://appleid.apple.com"
    if !isURL(url, schemes: ["https://"]) && !(isURL(url, schemes: ["http://"]) && isLoopbackURL(url)) {
      raw.fault("apple_base_url", "must be https, or http to a loopback address, without a slash at its end")
    }
    return url
  }

  mutating func sessionAlgorithm() -> SignatureAlgorithm {
    guard let text = text("session_alg") else { return .es256 }
    guard let algorithm = SignatureAlgorithm(rawValue: text) else {
      raw.fault("session_alg", "must be ES256 or RS256")
      return .es256
    }
    return algorithm
  }

  mutating func allowedOrigins() -> [String] {
    guard raw.values["allowed_origins"] != nil else { return ["*"] }
    let origins = list("allowed_origins")
    if origins != ["*"], !origins.allSatisfy({ isOrigin($0) }) {
      raw.fault("allowed_origins", "must be `*`, or origins such as https://app.example.com")
    }
    return origins
  }

  mutating func logLevel() -> Log.Level {
    guard let text = text("log_level") else { return .info }
    guard let level = Log.Level.allCases.first(where: { "\($0)" == text }) else {
      raw.fault("log_level", "must be debug, info, warning or error")
      return .info
    }
    return level
  }
}

private let nonceRules: [String: NonceRule] = [
  "nonce=sha256": .standard,
  "nonce=raw": NonceRule(form: .raw, demandsChallenge: false),
  "nonce=challenge": NonceRule(form: .sha256, demandsChallenge: true),
  "nonce=raw+challenge": NonceRule(form: .raw, demandsChallenge: true),
]

/// 1 to 64 letters, digits, `-`, `_` or `.`.
func isName(_ text: String) -> Bool {
  (1...64).contains(text.utf8.count)
    && text.utf8.allSatisfy { byte in
      (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
        || "-_.".utf8.contains(byte)
    }
}

/// A URL of one of the schemes, of printable ASCII, with something behind the scheme, no query or fragment, and
/// no slash at its end: paths are appended to it.
private func isURL(_ text: String, schemes: [String]) -> Bool {
  guard let scheme = schemes.first(where: { text.hasPrefix($0) }) else { return false }
  let rest = text.utf8.dropFirst(scheme.utf8.count)
  return !rest.isEmpty && rest.first != UInt8(ascii: "/") && rest.last != UInt8(ascii: "/")
    && rest.allSatisfy { (0x21...0x7E).contains($0) && !"?#\"<>\\^`{|}@".utf8.contains($0) }
}

private func isOrigin(_ text: String) -> Bool {
  isURL(text, schemes: ["https://", "http://"]) && text.split(separator: "/").count == 2
}

/// The host of an authority with or without a port (RFC 3986 §3.2); an address keeps its brackets. Nil where there is
/// none, somebody's name stands before it, or the port is no number of one.
func authorityHost(_ text: Substring) -> Substring? {
  let end = text.first == "[" ? text.firstIndex(of: "]").map(text.index(after:)) : text.firstIndex(of: ":")
  let host = text[..<(end ?? text.endIndex)]
  let rest = text[host.endIndex...]
  guard !host.isEmpty, host.hasPrefix("[") == host.hasSuffix("]"), !host.contains("@"),
    rest.isEmpty || (rest.first == ":" && portNumber(rest.dropFirst()) != nil)
  else { return nil }
  return host
}

/// Whether the host of an http or https URL is `localhost` or a literal loopback address.
func isLoopbackURL(_ url: String) -> Bool {
  let scheme = url.hasPrefix("https://") ? "https://" : "http://"
  guard let host = authorityHost(url.dropFirst(scheme.count).prefix { $0 != "/" }) else { return false }
  let bytes = host.split(separator: ".", omittingEmptySubsequences: false)
  return host == "localhost" || host == "[::1]"
    || (bytes.count == 4 && bytes[0] == "127" && bytes.allSatisfy { isDigits($0) && UInt8($0) != nil })
}

/// `host:port` taken apart, with an IPv6 address in brackets and nothing else in them; nil for anything else.
private func listenAddress(_ text: String) -> Settings.Listen? {
  guard let colon = text.lastIndex(of: ":"), let port = portNumber(text[text.index(after: colon)...]) else {
    return nil
  }
  var host = text[..<colon]
  if host.hasPrefix("["), host.hasSuffix("]") {
    host = host.dropFirst().dropLast()
    guard host.contains(":") else { return nil }
  } else if host.contains(":") {
    return nil
  }
  guard !host.isEmpty, host.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !"[]/@".utf8.contains($0) })
  else {
    return nil
  }
  return Settings.Listen(host: String(host), port: port)
}

private func portNumber(_ text: Substring) -> UInt16? { isDigits(text) ? UInt16(text) : nil }

/// Digits alone: Swift's own conversions take a sign as well.
private func isDigits(_ text: some StringProtocol) -> Bool {
  !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
}
