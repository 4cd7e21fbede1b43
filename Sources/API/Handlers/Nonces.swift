internal import Domain
internal import HTTPServer
internal import Sessions
internal import Wire

/// `POST /v1/nonces`: a nonce that this server made, for clients that have to bring one.
struct Nonces: Sendable {
  let issuer: SessionIssuer

  func respond(to call: Call) -> Response {
    let challenge = issuer.makeChallenge()
    var out = JSONWriter(reserving: 256)
    out.member("nonce", challenge.text)
    out.member("sha256", challenge.hashed)
    out.member("expiresIn", String(Limits.challengeSeconds))
    return .json(out.finish())
  }
}
