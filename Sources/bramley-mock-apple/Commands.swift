internal import Crypto
internal import Domain
internal import Glibc
internal import HTTPServer
internal import MockApple
internal import Outbound
internal import Wire

private let usage = """
  A stand-in for Apple, for development and tests. Its keys are public: never let a real service believe them.

  usage: bramley-mock-apple serve [--listen HOST:PORT]
         bramley-mock-apple keys
         bramley-mock-apple team [--other]
         bramley-mock-apple token --audience ID [--nonce-raw RAW | --nonce CLAIM] [--subject SUB] [--email ADDRESS]
             [--transferred-to TEAM] [--issued-at SECONDS] [--expires-in SECONDS] [--key KID] [--claim NAME=JSON]…
             [--header NAME=JSON]… [--payload TEXT] [--break-signature]
         bramley-mock-apple notify --audience ID [--url URL] [--type TYPE] [--subject SUB] [--email ADDRESS]
             [--event-time SECONDS] [--unit milliseconds|seconds] [--shape string|object|array] [--jti ID]
             [--issued-at SECONDS] [--expires-in SECONDS] [--key KID] [--claim NAME=JSON]… [--header NAME=JSON]…
             [--payload TEXT] [--break-signature] [--unsigned]

  `--claim NAME=null` leaves a claim out. The mint over HTTP is POST /mint with the same words in camel case.
  `notify` sends a notification to a service, such as http://127.0.0.1:8080/v1/apple/notifications, and prints the answer;
  without --url it prints the payload. The same over HTTP is POST /notify.
  `team` prints the ids and the private key of a team that it knows, as a service needs them for codes; --other that of
  the team that an app may go to. `token --transferred-to` makes a token of the same person there. POST /mint
  with "code":true gives an authorization code as well; GET /calls tells what came to the token endpoints, which
  POST /behaviour {"tokens":"unavailable"} makes misbehave; POST /withdraw takes a person's consent back.
  `serve` also names `keysListen`, a key endpoint that POST /behaviour {"keys":"slow","milliseconds":3000} makes
  misbehave; GET /behaviour tells how often it was asked.
  exit status: 0 done; 1 refused; 64 wrong usage; 69 the address cannot be had
  """

/// Runs the stand-in's command line.
///
/// - Returns: The exit status.
func runMockApple(_ arguments: [String]) async -> Int32 {
  guard let command = arguments.first, command != "--help", !arguments.contains("--help") else {
    print(usage)
    return arguments.isEmpty ? 64 : 0
  }
  let rest = Array(arguments.dropFirst())
  do {
    let apple = try MockApple(clock: systemClock)
    switch command {
    case "serve": return try await serve(rest, apple)
    case "keys":
      print(String(decoding: apple.keySetJSON, as: UTF8.self))
      return 0
    case "team":
      print(teamJSON(isOther: try Arguments(rest, options: [], switches: ["other"]).has("other")))
      return 0
    case "token": return try mintToken(rest, apple)
    case "notify": return try await sendNotification(rest, apple)
    default: return complain(64, "there is no command `\(command)`; --help lists them")
    }
  } catch let fault as CommandFault {
    return complain(fault.status, fault.message)
  } catch {
    return complain(69, "\(error)")
  }
}

private let systemClock = WallClock {
  var now = timespec()
  unsafe clock_gettime(CLOCK_REALTIME, &now)
  return UnixTime(Int64(now.tv_sec))
}

private func teamJSON(isOther: Bool) -> String {
  var out = JSONWriter()
  out.member("teamId", isOther ? MockTeam.otherID : MockTeam.id)
  out.member("keyId", (isOther ? MockTeam.otherKeyID : MockTeam.keyID).text)
  out.member("privateKey", isOther ? MockTeam.otherPEM : MockTeam.pem)
  return String(decoding: out.finish(), as: UTF8.self)
}

private func mintToken(_ list: [String], _ apple: MockApple) throws -> Int32 {
  let arguments = try Arguments(
    list,
    options: [
      "audience", "nonce-raw", "nonce", "subject", "email", "transferred-to", "issued-at", "expires-in",
      "key", "payload",
    ],
    lists: ["claim", "header"], switches: ["break-signature"])
  guard arguments.words.isEmpty else { throw CommandFault.usage("token takes options only") }
  var order = try tokenOrder(arguments)
  order.rawNonce = arguments["nonce-raw"]
  order.nonce = arguments["nonce"]
  order.email = arguments["email"]
  order.transferredTo = arguments["transferred-to"]
  guard let token = try apple.mint(order) else { return complain(1, "there is no key of that name") }
  print(token)
  return 0
}

/// What tokens and notifications have in common.
private func tokenOrder(_ arguments: Arguments) throws -> TokenOrder {
  var order = TokenOrder()
  order.audience = arguments["audience"]
  if let subject = arguments["subject"] { order.subject = subject }
  order.issuedAt = try arguments.number("issued-at", 0...(1 << 40))
  if let lifetime = try arguments.number("expires-in", 0...(1 << 40)) { order.lifetime = lifetime }
  order.keyName = arguments["key"]
  order.payload = arguments["payload"]
  order.breaksSignature = arguments.has("break-signature")
  order.claims = try arguments.all("claim").map(member)
  order.header = try arguments.all("header").map(member)
  guard order.audience != nil || order.payload != nil || order.claims.contains(where: { $0.name == "aud" })
  else {
    throw CommandFault.usage("--audience is missing")
  }
  return order
}

private func sendNotification(_ list: [String], _ apple: MockApple) async throws -> Int32 {
  let arguments = try Arguments(
    list,
    options: [
      "audience", "url", "type", "subject", "email", "event-time", "unit", "shape", "jti", "issued-at",
      "expires-in", "key", "payload",
    ], lists: ["claim", "header"], switches: ["break-signature", "unsigned"])
  guard arguments.words.isEmpty else { throw CommandFault.usage("notify takes options only") }
  var order = NotificationOrder()
  order.token = try tokenOrder(arguments)
  order.subject = order.token.subject
  if let type = arguments["type"] { order.type = type }
  order.email = arguments["email"]
  order.eventTime = try arguments.number("event-time", 0...(1 << 40))
  order.id = arguments["jti"]
  order.isUnsigned = arguments.has("unsigned")
  if let word = arguments["unit"] { order.unit = try known(word, "unit") }
  if let word = arguments["shape"] { order.shape = try known(word, "shape") }
  guard let payload = try apple.notification(order, id: hexText(Entropy.system.bytes(16))) else {
    return complain(1, "there is no key of that name")
  }
  guard let url = arguments["url"] else {
    print(payload)
    return 0
  }
  let fetcher = try makeFetcher()
  let answer = try await apple.notify(url, payload, by: fetcher)
  await fetcher.stop()
  print("\(answer.status) \(String(decoding: answer.body, as: UTF8.self))")
  return answer.status == 200 ? 0 : 1
}

private func known<Word: RawRepresentable<String> & CaseIterable>(
  _ text: String, _ option: String
) throws(CommandFault) -> Word {
  guard let word = Word(rawValue: text) else {
    throw .usage("--\(option) takes \(Word.allCases.map(\.rawValue).joined(separator: " or "))")
  }
  return word
}

private func makeFetcher() throws -> CurlFetcher {
  try CurlFetcher(version: "mock-apple", limit: 64, authorityFile: nil)
}

/// `NAME=JSON`; what is no JSON is text.
private func member(_ text: String) throws(CommandFault) -> (name: String, value: JSONValue) {
  let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
  guard parts.count == 2, !parts[0].isEmpty else {
    throw .usage("`\(text)` is not NAME=JSON")
  }
  let wrapped = try? JSONObject(parsing: Array("{\"value\":\(parts[1])}".utf8))
  return (parts[0], wrapped?["value"] ?? .text(parts[1]))
}

private func serve(_ list: [String], _ apple: MockApple) async throws -> Int32 {
  let arguments = try Arguments(list, options: ["listen"], switches: [])
  let address = arguments["listen"] ?? "127.0.0.1:9090"
  guard let colon = address.lastIndex(of: ":"), let port = UInt16(address[address.index(after: colon)...])
  else {
    throw CommandFault.usage("--listen takes HOST:PORT")
  }
  let endpoint = try KeyEndpoint(apple.keys, clock: systemClock)
  let desk = try TokenDesk(apple, clock: systemClock)
  let fetcher = try makeFetcher()
  let listener = try HTTPListener(
    ListenerConfiguration(
      host: String(address[..<colon]), port: port, threads: 1, connectionLimit: 4096, bodyLimit: 1 << 20,
      bodyMemoryLimit: 64 << 20, connectionMemoryLimit: 32 * 1024, idleSeconds: 60, headSeconds: 10,
      deadline: .seconds(30),
      maxRequestsInFlight: 1024, tls: nil),
    refusal: { _, _ in Response(status: 400, closesConnection: true) },
    respond: { request in
      // The name under which the caller reached it is the name that its links carry.
      await apple.respond(
        to: request, baseURL: "http://" + (request.headers.first("Host") ?? address), endpoint: endpoint,
        desk: desk, fetcher: fetcher, entropy: .system)
    })
  var ready = JSONWriter()
  ready.member("event", "ready")
  ready.member("listen", listener.address)
  ready.member("keysListen", "127.0.0.1:\(endpoint.port)")
  print(String(decoding: ready.finish(), as: UTF8.self))
  fflush(nil)
  // Until a signal ends the process.
  while (try? await Task.sleep(for: .seconds(3600))) != nil {}
  withExtendedLifetime(listener) {}
  return 0
}

private func complain(_ status: Int32, _ message: String) -> Int32 {
  let line = Array("bramley-mock-apple: \(message)\n".utf8)
  unsafe line.withUnsafeBytes { _ = unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
  return status
}
