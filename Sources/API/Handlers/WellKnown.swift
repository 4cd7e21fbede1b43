internal import Crypto
internal import Domain
internal import HTTPServer
internal import Sessions
internal import Synchronization
internal import Wire

/// What verifiers read: the key set, the same keys as certificates, and discovery. Built once for each state of
/// the keys; answered from memory on the listener's thread.
final class WellKnown: Sendable {
  private struct Documents {
    let version: Int64
    let keySet: Document
    let certificates: Document
    let discovery: Document
  }

  private let issuer: SessionIssuer
  private let publicURL: String
  private let documents = Mutex<Documents?>(nil)

  init(issuer: SessionIssuer, publicURL: String) {
    self.issuer = issuer
    self.publicURL = publicURL
  }

  func keySet(_ call: Call) -> Response { current().keySet.response(to: call.request) }
  func certificates(_ call: Call) -> Response { current().certificates.response(to: call.request) }
  func discovery(_ call: Call) -> Response { current().discovery.response(to: call.request) }

  private func current() -> Documents {
    let keys = issuer.keys
    return documents.withLock { documents in
      if let documents, documents.version == keys.version { return documents }
      let made = Documents(
        version: keys.version, keySet: Document(keys.keySetJSON),
        certificates: Document(keys.certificatesJSON),
        discovery: Document(discoveryJSON(algorithms: keys.algorithms)))
      documents = made
      return made
    }
  }

  /// OpenID Connect Discovery 1.0 §3 and RFC 8414 §2. The authorization page is Apple's.
  private func discoveryJSON(algorithms: [String]) -> [UInt8] {
    var out = JSONWriter(reserving: 1024)
    out.member("issuer", issuer.rules.issuer)
    out.member("jwks_uri", publicURL + "/.well-known/jwks.json")
    out.member("authorization_endpoint", publicURL + "/v1/apple/authorize")
    out.member("token_endpoint", publicURL + "/v1/token")
    out.member("introspection_endpoint", publicURL + "/v1/introspect")
    out.member("revocation_endpoint", publicURL + "/v1/revoke")
    out.member("response_types_supported", ["code", "id_token"])
    out.member("code_challenge_methods_supported", ["S256"])
    out.member("subject_types_supported", ["public"])
    out.member("id_token_signing_alg_values_supported", algorithms)
    out.member("grant_types_supported", ["refresh_token", "authorization_code"])
    out.member("token_endpoint_auth_methods_supported", ["none"])
    // A service key is a bearer there; apps, which revoke, are public clients (RFC 8414 §2).
    out.member("introspection_endpoint_auth_methods_supported", ["Bearer"])
    out.member("revocation_endpoint_auth_methods_supported", ["none"])
    out.member(
      "claims_supported",
      [
        "iss", "aud", "sub", "user_id", "iat", "exp", "auth_time", "sid", "email", "email_verified", "name",
        "firebase",
      ])
    return out.finish()
  }
}

/// A public document with a strong validator (RFC 9110 §8.8.3).
private struct Document: Sendable {
  private let body: [UInt8]
  private let tag: String

  init(_ body: [UInt8]) {
    self.body = body
    tag = "\"" + base64URLText(sha256(body).prefix(18)) + "\""
  }

  func response(to request: Request) -> Response {
    let isKnown = request.headers.all("If-None-Match").contains { value in
      value.split(separator: ",").contains { candidate in
        var candidate = candidate.drop { $0 == " " }
        if candidate.hasPrefix("W/") { candidate = candidate.dropFirst(2) }
        return candidate == "*" || candidate.prefix { $0 != " " } == tag
      }
    }
    // With the body also for 304: the listener sends its length and not it (RFC 9110 §8.6).
    var response = Response.json(
      body, status: isKnown ? 304 : 200,
      cacheControl: "public, max-age=\(Limits.keySetMaxAge)")
    response.headers.append("ETag", tag)
    return response
  }
}
