//===-- MockApple ----------------------------------------------------------===//
// A stand-in for Apple: keys, discovery, a mint for any identity token, right or wrong, and the token endpoints. For development, tests
// and load runs; no part of the service.
//===------------------------------------------------------------------------===//

package import Crypto
package import Domain
package import HTTPServer
internal import JOSE
internal import Wire

/// The stand-in: mints tokens and answers as `appleid.apple.com` would.
package struct MockApple: Sendable {
  package let keys: MockKeys
  let clock: WallClock
  private let page = AuthorizePage()

  package init(clock: WallClock) throws(CryptoError) {
    keys = try MockKeys()
    self.clock = clock
  }

  /// The key set that its tokens verify with.
  package var keySetJSON: [UInt8] { keys.keySetJSON }

  /// The token that was ordered; nil when it names a key that is not there.
  package func mint(_ order: TokenOrder) throws(CryptoError) -> String? {
    guard let entry = keys[order.keyName] else { return nil }
    var token: [UInt8] = []
    appendBase64URL(order.headerBytes(keyID: entry.id), to: &token)
    token.append(UInt8(ascii: "."))
    appendBase64URL(order.payloadBytes(now: clock.now()), to: &token)
    let signature = try entry.key.sign(order.breaksSignature ? token + [0] : token)
    token.append(UInt8(ascii: "."))
    appendBase64URL(signature, to: &token)
    return String(decoding: token, as: UTF8.self)
  }

  /// An authorization code for the person and the client of an order, good for five minutes and one use.
  ///
  /// - Parameter redirectURI: Of a code of the web.
  package func code(for order: TokenOrder, redirectURI: String? = nil) -> String {
    MockGrant(
      .code,
      subject: order.transferredTo.map { MockTransfer(person: order.subject, team: $0).subject }
        ?? order.subject, client: order.audience ?? "", redirectURI: redirectURI,
      email: order.email, issuedAt: clock.now(), serial: 0
    ).text
  }

  /// Answers one request.
  ///
  /// - Parameters:
  ///   - baseURL: Where it is reached, for the links of the discovery document.
  ///   - endpoint: The key endpoint that can be told to misbehave.
  ///   - desk: The token endpoints.
  ///   - fetcher: Sends notifications.
  ///   - entropy: Makes their ids.
  package func respond(
    to request: Request, baseURL: String, endpoint: KeyEndpoint, desk: TokenDesk, fetcher: any HTTPFetching,
    entropy: Entropy
  ) async -> Response {
    switch (request.method, request.path) {
    case ("GET", "/behaviour"): json(endpoint.json)
    case ("POST", "/behaviour"): behave(request, endpoint, desk)
    case ("GET", "/calls"): json(desk.json)
    case ("POST", "/teams"): know(request, desk)
    case ("POST", "/withdraw"): withdraw(request, desk)
    case ("GET", "/auth/keys"): json(keySetJSON)
    case ("GET", "/auth/authorize"): page.respond(to: request, self)
    case (_, "/auth/token"), (_, "/auth/revoke"), (_, "/auth/usermigrationinfo"):
      await desk.respond(to: request)
    case ("GET", "/.well-known/openid-configuration"): json(discovery(baseURL))
    case ("POST", "/mint"): mint(request)
    case ("POST", "/notify"): await notify(request, by: fetcher, id: hexText(entropy.bytes(16)))
    default:
      refusal(
        404,
        "there is /auth/keys, /auth/authorize, /auth/token, /auth/revoke, /auth/usermigrationinfo, "
          + "/.well-known/openid-configuration, "
          + "POST /mint, /notify, /behaviour, /teams and /withdraw, and GET /calls")
    }
  }

  private func behave(_ request: Request, _ endpoint: KeyEndpoint, _ desk: TokenDesk) -> Response {
    let body = try? JSONObject(parsing: request.body)
    let keys = body?.text("keys").flatMap(KeyBehaviour.init(rawValue:))
    let tokens = body?.text("tokens").flatMap(DeskBehaviour.init(rawValue:))
    guard let body, keys != nil || tokens != nil else {
      let names = KeyBehaviour.allCases.map(\.rawValue).joined(separator: ", ")
      let others = DeskBehaviour.allCases.map(\.rawValue).joined(separator: ", ")
      return refusal(400, "`keys` is one of \(names); `tokens` is one of \(others)")
    }
    let milliseconds = (try? body.optionalInteger("milliseconds")) ?? 3000
    let bounded = min(max(milliseconds, 0), 60_000)
    if let keys { endpoint.behave(keys, milliseconds: bounded) }
    if let tokens { desk.behave(tokens, measure: (try? body.optionalInteger("oneIn")) ?? bounded) }
    return json(endpoint.json)
  }

  /// Takes the teams of a body for the only ones.
  private func know(_ request: Request, _ desk: TokenDesk) -> Response {
    guard let body = try? JSONObject(parsing: request.body), case .array(let values) = body["teams"] else {
      return refusal(400, "`teams` is an array of objects with teamId, keyId and publicKey")
    }
    var members: [MockTeam.Member] = []
    for value in values {
      guard case .object(let team) = value, let id = team.text("teamId"),
        let keyID = team.text("keyId").flatMap(KeyID.init),
        let pem = team.text("publicKey"), let key = try? PublicKey.keys(inPEM: Array(pem.utf8)).first
      else { return refusal(400, "a team is an object with teamId, keyId and publicKey, PEM") }
      members.append(MockTeam.Member(team: id, keyID: keyID, key: key))
    }
    desk.know(members)
    return json(Array("{}".utf8))
  }

  private func withdraw(_ request: Request, _ desk: TokenDesk) -> Response {
    guard let body = try? JSONObject(parsing: request.body), let subject = body.text("subject"),
      let client = body.text("clientId")
    else { return refusal(400, "send subject and clientId") }
    desk.withdraw(subject, client: client)
    return json(Array("{}".utf8))
  }

  private func mint(_ request: Request) -> Response {
    guard let body = try? JSONObject(parsing: request.body) else {
      return refusal(400, "the body is no JSON object")
    }
    do {
      var order = try TokenOrder(body)
      if try body.optionalFlag("code") ?? false {
        order.code = code(for: order, redirectURI: try body.optionalText("redirectUri"))
      }
      guard let token = try mint(order) else {
        return refusal(400, "there is no key of that name")
      }
      var out = JSONWriter(reserving: 2048)
      out.member("idToken", token)
      out.member("authorizationCode", order.code)
      return json(out.finish())
    } catch let error as JSONTypeError {
      return refusal(400, "`\(error.member)` has the wrong type")
    } catch {
      return refusal(500, "\(error)")
    }
  }

  /// As captured from Apple; the issuer stays Apple's, since its tokens say so.
  private func discovery(_ baseURL: String) -> [UInt8] {
    var out = JSONWriter(reserving: 1024)
    out.member("issuer", "https://appleid.apple.com")
    out.member("authorization_endpoint", baseURL + "/auth/authorize")
    out.member("token_endpoint", baseURL + "/auth/token")
    out.member("revocation_endpoint", baseURL + "/auth/revoke")
    out.member("jwks_uri", baseURL + "/auth/keys")
    out.member("response_types_supported", ["code"])
    out.member("response_modes_supported", ["query", "fragment", "form_post"])
    out.member("subject_types_supported", ["pairwise"])
    out.member("id_token_signing_alg_values_supported", ["RS256"])
    out.member("scopes_supported", ["openid", "email", "name"])
    out.member("token_endpoint_auth_methods_supported", ["client_secret_post"])
    out.member(
      "claims_supported",
      [
        "aud", "email", "email_verified", "exp", "iat", "is_private_email", "iss", "nonce", "nonce_supported",
        "real_user_status", "sub", "transfer_sub",
      ])
    return out.finish()
  }

  func refusal(_ status: Int, _ message: String) -> Response {
    var out = JSONWriter()
    out.member("error", message)
    return json(out.finish(), status: status)
  }

  func json(_ body: [UInt8], status: Int = 200) -> Response {
    Response(
      status: status,
      headers: ["Content-Type": "application/json;charset=UTF-8", "Cache-Control": "no-store"], body: body)
  }
}
