//===-- MockApple ----------------------------------------------------------===//
// A stand-in for Apple: keys, discovery and a mint for any identity token, right or wrong. For development, tests
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
  private let clock: WallClock

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

  /// Answers one request.
  ///
  /// - Parameters:
  ///   - baseURL: Where it is reached, for the links of the discovery document.
  ///   - endpoint: The key endpoint that can be told to misbehave.
  package func respond(to request: Request, baseURL: String, endpoint: KeyEndpoint) -> Response {
    switch (request.method, request.path) {
    case ("GET", "/behaviour"): json(endpoint.json)
    case ("POST", "/behaviour"): behave(request, endpoint)
    case ("GET", "/auth/keys"): json(keySetJSON)
    case ("GET", "/.well-known/openid-configuration"): json(discovery(baseURL))
    case ("POST", "/mint"): mint(request)
    default:
      refusal(404, "there is /auth/keys, /.well-known/openid-configuration, POST /mint and /behaviour")
    }
  }

  private func behave(_ request: Request, _ endpoint: KeyEndpoint) -> Response {
    guard let body = try? JSONObject(parsing: request.body),
      let behaviour = body.text("keys").flatMap(KeyBehaviour.init(rawValue:))
    else {
      let names = KeyBehaviour.allCases.map(\.rawValue).joined(separator: ", ")
      return refusal(400, "`keys` is one of \(names)")
    }
    let milliseconds = (try? body.optionalInteger("milliseconds")) ?? 3000
    endpoint.behave(behaviour, milliseconds: min(max(milliseconds, 0), 60_000))
    return json(endpoint.json)
  }

  private func mint(_ request: Request) -> Response {
    guard let body = try? JSONObject(parsing: request.body) else {
      return refusal(400, "the body is no JSON object")
    }
    do {
      guard let token = try mint(TokenOrder(body)) else {
        return refusal(400, "there is no key of that name")
      }
      var out = JSONWriter(reserving: 2048)
      out.member("idToken", token)
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

  private func refusal(_ status: Int, _ message: String) -> Response {
    var out = JSONWriter()
    out.member("error", message)
    return json(out.finish(), status: status)
  }

  private func json(_ body: [UInt8], status: Int = 200) -> Response {
    Response(
      status: status,
      headers: ["Content-Type": "application/json;charset=UTF-8", "Cache-Control": "no-store"], body: body)
  }
}
