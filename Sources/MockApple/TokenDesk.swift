package import Crypto
package import Domain
package import HTTPServer
internal import Synchronization
internal import Wire

/// The stand-in's `/auth/token`, `/auth/revoke` and `/auth/usermigrationinfo`, with Apple's strictness and Apple's error bodies.
package final class TokenDesk: Sendable {
  private struct State {
    var members: [MockTeam.Member]
    var behaviour = DeskBehaviour.good
    /// Milliseconds, or one call in so many.
    var measure: Int64 = 0
    var calls: Int64 = 0
    var spent: Set<String> = []
    var serial: Int64
    /// Tokens up to this one are void, by person and client.
    var floors: [String: Int64] = [:]
    /// By what was asked and what came of it.
    var counts: [String: [String: Int64]] = [:]
    /// People, by client, whose consent is gone since they last gave it.
    var withdrawn: Set<String> = []
    /// Digests of those whose export, and whose import, was answered: each counts once.
    var moved: [String: Set<String>] = [:]
    var present = 0
    var peak = 0
  }

  /// Codes and people that are remembered: then the stand-in begins to forget.
  private static let memory = 200_000
  /// Seconds that a code lives.
  private static let codeSeconds: Int64 = 300
  /// Seconds that an access token lives.
  private static let tokenSeconds: Int64 = 3600

  private let apple: MockApple
  private let clock: WallClock
  private let state: Mutex<State>

  /// A desk that knows the teams of the stand-in.
  package init(_ apple: MockApple, clock: WallClock) throws(CryptoError) {
    self.apple = apple
    self.clock = clock
    state = Mutex(State(members: try MockTeam.members(), serial: clock.now().seconds * 1_000_000))
  }

  /// Behaves in this way from now on.
  package func behave(_ behaviour: DeskBehaviour, measure: Int64) {
    state.withLock { ($0.behaviour, $0.measure) = (behaviour, measure) }
  }

  /// Knows these teams and no others from now on.
  package func know(_ members: [MockTeam.Member]) { state.withLock { $0.members = members } }

  /// Voids the tokens of a person, as when he takes his consent back in his settings.
  package func withdraw(_ subject: String, client: String) {
    state.withLock { state in
      state.floors[key(subject, client)] = state.serial
      state.withdrawn.insert(key(subject, client))
    }
  }

  /// What came so far: counts by kind of call and outcome, and how many were under way at a time.
  package var json: [UInt8] {
    let (counts, peak, moved) = state.withLock { ($0.counts, $0.peak, $0.moved.mapValues(\.count)) }
    var out = JSONWriter()
    for (call, outcomes) in counts.sorted(by: { $0.key < $1.key }) {
      out.object(call) { out in
        for (outcome, count) in outcomes.sorted(by: { $0.key < $1.key }) { out.member(outcome, count) }
      }
    }
    out.member("peak", Int64(peak))
    // People, each once.
    out.member("exported", Int64(moved["export"] ?? 0))
    out.member("imported", Int64(moved["import"] ?? 0))
    return out.finish()
  }

  /// Answers a call of `/auth/token`, `/auth/revoke` or `/auth/usermigrationinfo`.
  package func respond(to request: Request) async -> Response {
    let (behaviour, measure, number) = state.withLock { state in
      state.present += 1
      state.peak = max(state.peak, state.present)
      state.calls += 1
      return (state.behaviour, state.measure, state.calls)
    }
    defer { state.withLock { $0.present -= 1 } }
    let fields = form(of: request)
    let call = callName(request.path, fields)
    func done(_ outcome: String, _ response: Response) -> Response {
      state.withLock { $0.counts[call, default: [:]][outcome, default: 0] += 1 }
      return response
    }
    switch behaviour {
    case .throttled: return done("throttled", page(429))
    case .unavailable: return done("unavailable", page(503))
    case .page: return done("page", page(200))
    case .stranger: return done("invalid_client", error(.invalidClient))
    case .sporadic where measure > 0 && number.isMultiple(of: measure):
      return done("invalid_client", error(.invalidClient))
    case .closed where request.path == "/auth/usermigrationinfo":
      return done("invalid_request", error(.invalidRequest))
    case .good, .lost, .slow, .sporadic, .misattributed, .closed: break
    }
    do throws(DeskError) {
      guard let fields else { throw .unsupportedGrantType }
      let answer =
        switch request.path {
        case "/auth/revoke": try revoke(fields)
        case "/auth/usermigrationinfo":
          try migrate(fields, bearer: request.headers.first("Authorization"), call)
        default: try trade(fields, isMisattributed: behaviour == .misattributed)
        }
      if behaviour == .slow { try? await Task.sleep(for: .milliseconds(measure)) }
      return done("ok", behaviour == .lost ? page(503) : answer)
    } catch {
      return done(error.rawValue, self.error(error))
    }
  }

  /// The body as a form; nil for any other media type, and for what is none.
  private func form(of request: Request) -> FormBody? {
    let type = request.headers.first("Content-Type")?.split(separator: ";").first.map { String($0) }
    guard request.method == "POST", type == "application/x-www-form-urlencoded" else { return nil }
    return try? FormBody(parsing: request.body)
  }

  private func callName(_ path: String, _ fields: FormBody?) -> String {
    switch (path, fields?["grant_type"]) {
    case ("/auth/revoke", _): "revoke"
    case ("/auth/usermigrationinfo", _): fields?["transfer_sub"] == nil ? "export" : "import"
    case (_, "authorization_code"): "exchange"
    case (_, "refresh_token"): "refresh"
    case (_, "client_credentials"): "migration"
    default: "other"
    }
  }

  private func client(_ fields: FormBody) throws(DeskError) -> (client: String, team: String) {
    let proof = ClientProof(members: state.withLock { $0.members })
    guard let client = fields["client_id"], let secret = fields["client_secret"],
      let team = proof.team(provedBy: secret, client: client, at: clock.now())
    else { throw .invalidClient }
    return (client, team)
  }

  private func trade(_ fields: FormBody, isMisattributed: Bool) throws(DeskError) -> Response {
    let (client, team) = try client(fields)
    switch fields["grant_type"] {
    case nil: throw .invalidRequest
    case "authorization_code":
      return try exchange(fields, client, team, isMisattributed: isMisattributed)
    case "client_credentials":
      guard fields["scope"] == "user.migration" else { throw .invalidScope }
      let token = MockGrant(
        .migrationToken, subject: "", client: client, redirectURI: nil, email: nil, issuedAt: clock.now(),
        serial: 0, team: team)
      return answer(for: token, refreshToken: nil, idToken: nil, access: token.text)
    case "refresh_token":
      guard let text = fields["refresh_token"] else { throw .invalidRequest }
      guard let grant = MockGrant(text), grant.kind == .refreshToken, grant.client == client,
        grant.team == team, isGood(grant)
      else { throw .invalidGrant }
      return answer(for: grant, refreshToken: nil, idToken: nil)
    default: throw .unsupportedGrantType
    }
  }

  private func exchange(
    _ fields: FormBody, _ client: String, _ team: String, isMisattributed: Bool
  ) throws(DeskError) -> Response {
    guard let text = fields["code"] else { throw .invalidRequest }
    let now = clock.now()
    guard let code = MockGrant(text), code.kind == .code, code.client == client,
      code.redirectURI == fields["redirect_uri"], now.seconds < code.issuedAt + Self.codeSeconds
    else { throw .invalidGrant }
    let serial: Int64? = state.withLock { state in
      guard state.spent.insert(text).inserted else { return nil }
      if state.spent.count > Self.memory { state.spent = [text] }
      state.withdrawn.remove(key(code.subject, client))
      state.serial += 1
      return state.serial
    }
    guard let serial else { throw .codeUsed }
    let refreshToken = MockGrant(
      .refreshToken, subject: code.subject, client: client, redirectURI: nil, email: code.email,
      issuedAt: now, serial: serial, team: team)
    var order = TokenOrder()
    order.audience = client
    order.subject = isMisattributed ? "009999.another.9999" : code.subject
    order.email = code.email
    let access = accessToken(for: refreshToken)
    order.claims = [
      ("at_hash", .text(base64URLText(Array(sha256(Array(access.utf8)).prefix(16))))),
      ("real_user_status", .null),
    ]
    guard let idToken = try? apple.mint(order) else { throw .invalidRequest }
    return answer(for: refreshToken, refreshToken: refreshToken.text, idToken: idToken, access: access)
  }

  private func accessToken(for grant: MockGrant) -> String {
    MockGrant(
      .accessToken, subject: grant.subject, client: grant.client, redirectURI: nil, email: nil,
      issuedAt: clock.now(), serial: grant.serial, team: grant.team
    ).text
  }

  private func answer(
    for grant: MockGrant, refreshToken: String?, idToken: String?, access: String? = nil
  ) -> Response {
    var out = JSONWriter(reserving: 2048)
    out.member("access_token", access ?? accessToken(for: grant))
    out.member("token_type", "Bearer")
    out.member("expires_in", 3600)
    out.member("refresh_token", refreshToken)
    out.member("id_token", idToken)
    return Response(
      status: 200, headers: ["Content-Type": "application/json;charset=UTF-8", "Cache-Control": "no-store"],
      body: out.finish())
  }

  /// 200 also for a token that is nobody's.
  private func revoke(_ fields: FormBody) throws(DeskError) -> Response {
    let (client, team) = try client(fields)
    guard let text = fields["token"] else { throw .invalidRequest }
    let grant = MockGrant(text)
    if let hint = fields["token_type_hint"], let grant {
      let kind: MockGrant.Kind? =
        ["refresh_token": .refreshToken, "access_token": .accessToken][hint]
      guard kind == grant.kind else { throw .invalidRequest }
    }
    if let grant, grant.client != client || grant.kind != .code && grant.team != team { throw .invalidClient }
    state.withLock { state in
      guard let grant, grant.kind != .code else {
        return state.counts["revoke", default: [:]]["unknown", default: 0] += 1
      }
      if state.floors.count > Self.memory { state.floors = [:] }
      state.floors[key(grant.subject, client)] = max(
        grant.serial, state.floors[key(grant.subject, client)] ?? 0)
      state.withdrawn.insert(key(grant.subject, client))
    }
    return Response(status: 200)
  }

  /// What a person is called on the way to another team, or at this one.
  private func migrate(_ fields: FormBody, bearer: String?, _ call: String) throws(DeskError) -> Response {
    let (client, team) = try client(fields)
    guard let text = bearer, text.hasPrefix("Bearer "), let token = MockGrant(String(text.dropFirst(7))),
      token.kind == .migrationToken, token.client == client, token.team == team,
      clock.now().seconds < token.issuedAt + Self.tokenSeconds
    else { throw .invalidToken }
    var out = JSONWriter()
    let person: String
    // Whoever comes in is known by either subject, and may have taken the consent back as either.
    let names: [String]
    switch (fields["sub"], fields["target"], fields["transfer_sub"]) {
    case (let subject?, let target?, nil):
      // Any team that is written as one will do, the sender's own as well: that is what Apple does.
      guard let id = TeamID(target), id.isUsual, Subject(subject) != nil else { throw .invalidRequest }
      (person, names) = (subject, [subject])
      out.member("transfer_sub", MockTransfer(person: subject, team: target).transferSubject)
    case (nil, nil, let transferSubject?):
      guard let transfer = MockTransfer(transferSubject), transfer.team == team else { throw .invalidRequest }
      (person, names) = (transfer.person, [transfer.person, transfer.subject])
      out.member("sub", transfer.subject)
      out.member("email", transfer.relayAddress)
      out.member("is_private_email", true)
    default: throw .invalidRequest
    }
    let isHere = state.withLock { state in
      guard names.allSatisfy({ !state.withdrawn.contains(key($0, client)) }) else { return false }
      if state.moved[call, default: []].count < Self.memory { state.moved[call, default: []].insert(person) }
      return true
    }
    guard isHere else { throw .invalidRequest }
    return Response(
      status: 200, headers: ["Content-Type": "application/json;charset=UTF-8", "Cache-Control": "no-store"],
      body: out.finish())
  }

  private func isGood(_ grant: MockGrant) -> Bool {
    state.withLock { grant.serial > $0.floors[key(grant.subject, grant.client)] ?? 0 }
  }

  private func error(_ error: DeskError) -> Response {
    var out = JSONWriter()
    out.member("error", error.code)
    out.member("error_description", error.description)
    return Response(
      status: error == .invalidToken ? 401 : 400,
      headers: ["Content-Type": "application/json;charset=UTF-8", "Cache-Control": "no-store"],
      body: out.finish())
  }

  private func page(_ status: Int) -> Response {
    Response(
      status: status, headers: ["Content-Type": "text/html"],
      body: Array("<html><body><h1>Not now</h1></body></html>".utf8))
  }
}

private func key(_ subject: String, _ client: String) -> String { "\(client) \(subject)" }

/// Apple's error bodies, and what Apple was seen to say beside them.
private enum DeskError: String, Error {
  case invalidRequest = "invalid_request"
  case invalidClient = "invalid_client"
  case invalidGrant = "invalid_grant"
  case codeUsed = "code_used"
  case unsupportedGrantType = "unsupported_grant_type"
  case invalidScope = "invalid_scope"
  case invalidToken = "invalid_token"

  var code: String { self == .codeUsed ? "invalid_grant" : rawValue }

  var description: String? {
    switch self {
    case .invalidGrant: "The code has expired or has been revoked."
    case .codeUsed: "The code has already been used."
    case .invalidRequest, .invalidClient, .unsupportedGrantType, .invalidScope, .invalidToken: nil
    }
  }
}
