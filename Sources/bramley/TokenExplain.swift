internal import AppleIdentity
internal import Assembly
internal import Domain
internal import JOSE
internal import Settings
internal import Wire

/// `bramley token explain`.
func token(_ list: [String]) async throws(CommandFault) -> Int32 {
  let arguments = try parse(
    list, options: ["jwks", "audience", "issuer", "nonce", "now", "config"])
  guard arguments.words.first == "explain", arguments.words.count == 2 else {
    throw .usage("token takes `explain` and a token")
  }
  let text = try tokenText(arguments.words[1])
  let now = try arguments.number("now", 0...(1 << 40)).map { UnixTime($0) } ?? WallClock.system.now()
  // With a key set and an audience nothing has to be set.
  let needsSettings = arguments["jwks"] == nil || arguments["audience"] == nil
  let settings = needsSettings ? try loadSettings(arguments) : nil
  let rules = try rules(arguments, settings)
  let keys = try await keySet(arguments, settings)
  let explanation = TokenExplanation(
    of: text, keys: keys, rules: rules, rawNonce: arguments["nonce"], now: now)
  let preview = TokenPreview(of: text.utf8)
  if arguments.has("json") {
    var out = JSONWriter()
    out.member("valid", explanation.isValid)
    out.member("code", explanation.code)
    out.member("header", json: preview.header ?? Array("{}".utf8))
    out.member("claims", json: preview.claims ?? Array("{}".utf8))
    out.member("detail", explanation.detail)
    printJSON(out)
  } else {
    print("\(explanation.code): \(explanation.detail)")
    for (name, part) in [("header", preview.header), ("claims", preview.claims)] {
      print("\(name): \(part.map { String(decoding: $0, as: UTF8.self) } ?? "cannot be read")")
    }
  }
  return explanation.isValid ? ExitStatus.done : ExitStatus.refused
}

/// The token of the command line, or of standard input for `-`.
private func tokenText(_ word: String) throws(CommandFault) -> String {
  guard word == "-" else { return word }
  guard let bytes = readStandardInput(), let text = String(validating: bytes, as: UTF8.self) else {
    throw CommandFault(status: ExitStatus.refused, message: "standard input is no text")
  }
  let isSpace: (Character) -> Bool = { $0.isWhitespace }
  return String(text.drop(while: isSpace).reversed().drop(while: isSpace).reversed())
}

private func rules(_ arguments: Arguments, _ settings: Settings?) throws(CommandFault) -> IdentityTokenRules {
  var clients = settings?.appleRules.clients ?? [:]
  if let audience = arguments["audience"] {
    guard let client = ClientID(audience) else { throw .usage("--audience takes a bundle id or Services ID") }
    clients = [client: clients[client] ?? .standard]
  }
  let issuers =
    arguments["issuer"].map { [$0] } ?? settings?.appleRules.issuers ?? ["https://appleid.apple.com"]
  return IdentityTokenRules(
    issuers: issuers, clients: clients, maximumAge: settings?.appleRules.maximumAge ?? 3600,
    leeway: settings?.appleRules.leeway ?? 60)
}

/// The key set of a file, else Apple's of this moment.
private func keySet(_ arguments: Arguments, _ settings: Settings?) async throws(CommandFault) -> KeySet {
  if let path = arguments["jwks"] {
    guard let bytes = readFile(path) else {
      throw CommandFault(status: ExitStatus.unavailable, message: "\(path) cannot be read")
    }
    do {
      return try KeySet(parsing: bytes)
    } catch {
      throw CommandFault(status: ExitStatus.unavailable, message: "\(path) holds no key that can be used")
    }
  }
  let url = (settings?.appleBaseURL ?? "https://appleid.apple.com") + "/auth/keys"
  do {
    return try await fetchAppleKeys(from: url)
  } catch {
    throw CommandFault(status: ExitStatus.unavailable, message: "\(url) gives no keys: \(error)")
  }
}
