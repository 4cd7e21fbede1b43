internal import AppleIdentity
internal import Crypto
internal import Domain

// Who may do what: administrators, development, accounts that join or have no identity, who signs for others, and with
// what we prove ourselves to Apple.

/// A scheme that is not the web's is an app's, and has a dot (RFC 8252 §7.1): `javascript:` has none.
private func isReturnURL(_ url: String) -> Bool {
  guard url.utf8.count <= Limits.returnURLBytes,
    url.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !"#\"<>\\^`{|}".utf8.contains($0) }),
    let colon = url.firstIndex(of: ":")
  else { return false }
  let target = url[colon...].dropFirst().prefix { $0 != "?" }
  let hasAuthority = target.hasPrefix("//")
  let authority = hasAuthority ? target.dropFirst(2).prefix { $0 != "/" } : ""
  let path = hasAuthority ? target.dropFirst(2).drop { $0 != "/" } : target
  // Port 0 is nobody's.
  guard authority.isEmpty || authorityHost(authority) != nil, !authority.hasSuffix(":0"),
    !hasAnswerField(url[colon...].drop { $0 != "?" }.dropFirst())
  else { return false }
  switch url[..<colon] {
  case "https": return !authority.isEmpty
  case "http": return !authority.isEmpty && isLoopbackURL(String(url.prefix { $0 != "?" }))
  case let scheme:
    // `com.example.app:/path` or `com.example.app://host`: an app registers one or the other.
    return isAppScheme(scheme) && (!authority.isEmpty || path.hasPrefix("/") && path.count > 1)
  }
}

private func isAppScheme(_ scheme: Substring) -> Bool {
  scheme.contains(".") && ("a"..."z").contains(scheme.first ?? " ")
    && scheme.utf8.allSatisfy {
      (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || "+-.".utf8.contains($0)
    }
}

/// Whether a query has a field already that the answer brings, or one that is spelt in a way that may hide it: the app
/// would see two of them.
private func hasAnswerField(_ query: Substring) -> Bool {
  query.split(separator: "&").contains { field in
    let name = field.prefix { $0 != "=" }
    return ["code", "state", "error", "error_description"].contains(name) || name.contains("%")
  }
}

extension SettingsReader {
  mutating func adminTokens() -> [String: Secret<String>] {
    guard raw.values["admin_token"] != nil else { return [:] }
    guard let tokens = tokensByHolder(list("admin_token")) else {
      raw.fault(
        "admin_token",
        "must be a token, or a comma list of name=token with names of their own (1 to 64 letters, digits, `.`, "
          + "`_` or `-`), each token of at least 16 printable characters")
      return [:]
    }
    return tokens
  }

  /// What must hold before everybody who can reach the listener may be an administrator: nobody else can.
  mutating func devMode(
    listeners: [(name: String, address: Settings.Listen?)], publicURL: String?, _ proxies: [Network]
  ) -> Bool {
    guard flag("dev_mode") else { return false }
    for (name, address) in listeners where address?.isLoopback == false {
      raw.fault("dev_mode", "cannot be on while \(name) is no loopback address")
    }
    if let publicURL, !isLoopbackURL(publicURL) {
      raw.fault("dev_mode", "cannot be on while public_url is no URL of this machine")
    }
    if text("database_url")?.hasPrefix("sqlite:") == false {
      raw.fault("dev_mode", "cannot be on unless the database is SQLite")
    }
    if !proxies.isEmpty { raw.fault("dev_mode", "cannot be on while a proxy is trusted") }
    return true
  }

  /// Where the web flow may end.
  mutating func returnURLs() -> [String] {
    let urls = list("return_urls")
    if urls.count > Limits.returnURLs {
      raw.fault("return_urls", "has more than \(Limits.returnURLs) entries")
    }
    for url in urls where !isReturnURL(url) {
      raw.fault(
        "return_urls",
        "must hold https URLs, URLs of an app's own scheme with a dot in it such as com.example.app:/signed-in, or http "
          + "URLs of this machine, in printable ASCII, without a fragment, a user, port 0 or a field named code, state or "
          + "error")
      break
    }
    return urls
  }

  /// The key of a team, of which all three settings are there or none.
  ///
  /// - Parameter prefix: Of the names of its settings.
  mutating func teamKey(_ prefix: String) -> TeamKey? {
    let names = ["team_id", "key_id", "private_key"].map { prefix + $0 }
    let values = names.map { name in text(name).flatMap { $0.isEmpty ? nil : $0 } }
    guard values.contains(where: { $0 != nil }) else { return nil }
    for (name, value) in zip(names, values) where value == nil {
      raw.fault(name, "is missing: \(names.joined(separator: ", ")) belong together")
    }
    guard let team = values[0], let keyID = values[1], let pem = values[2] else { return nil }
    do {
      return try TeamKey(team: team, keyID: keyID, pem: Secret(pem))
    } catch {
      switch error {
      case .idMalformed:
        raw.fault(
          names[0], "and \(names[1]) must be ids as Apple gives them out: ten capital letters and digits each"
        )
      case .keyUnreadable:
        raw.fault(names[2], "must be the PEM text of the .p8 file, newlines literal or as `\\n`")
      case .notP256: raw.fault(names[2], "must be a P-256 key, as every .p8 file of Apple's holds")
      case .cannotSign: raw.fault(names[2], "holds a key that does not sign")
      }
      return nil
    }
  }

  mutating func accountLinking() -> AccountLinking {
    guard let text = text("account_linking") else { return .off }
    guard let linking = AccountLinking(rawValue: text) else {
      raw.fault("account_linking", "must be off or verified-email")
      return .off
    }
    return linking
  }

  mutating func customTokenKeys() -> [PublicKey] {
    guard let text = text("custom_token_keys") else { return [] }
    let lines = text.replacing("\\n", with: "\n")
    guard let keys = try? PublicKey.keys(inPEM: Array(lines.utf8)), keys.count <= 16 else {
      raw.fault(
        "custom_token_keys",
        "must be PEM text of 1 to 16 PUBLIC KEY or CERTIFICATE blocks, RSA of 2048 bits or more, or P-256")
      return []
    }
    return keys
  }
}

/// Tokens by the names of their holders; nil when something is wrong with one of them.
///
/// A token alone is `admin`'s. It may end in `=`, as base64 does, but what has anything behind a `=` is a name's:
/// otherwise `ops=short` would be a long token that nobody meant.
private func tokensByHolder(_ entries: [String]) -> [String: Secret<String>]? {
  var tokens: [String: Secret<String>] = [:]
  for entry in entries {
    let parts = entry.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let isNamed = parts.count == 2 && !parts[1].allSatisfy { $0 == "=" }
    let name = isNamed ? String(parts[0]) : "admin"
    let token = isNamed ? String(parts[1]) : entry
    guard isNamed || entries.count == 1, isName(name), token.utf8.count >= 16,
      token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
      tokens.updateValue(Secret(token), forKey: name) == nil
    else { return nil }
  }
  return tokens.isEmpty ? nil : tokens
}
