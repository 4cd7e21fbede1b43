// What a back end does with Bramley's session JWTs, with BramleyVerifier and no framework.

import BramleyVerifier

/// Whom a request's `Authorization` header signs in. The verifier is made once, when the program starts:
///
///     let verifier = try SessionVerifier(issuer: "https://auth.example.com", audience: "bramley")
///
/// Of an error that `isOutage` a back end makes a 503, for it says nothing about the token: whoever gets a 401 signs people
/// out. Of any other it makes a 401 with `WWW-Authenticate: Bearer`.
func account(_ authorization: String, _ verifier: SessionVerifier) async throws(VerificationError) -> String {
  let words = authorization.split(separator: " ")
  guard words.count == 2, words[0].lowercased() == "bearer" else { throw .malformed }
  return try await verifier.verify(String(words[1])).subject
}
