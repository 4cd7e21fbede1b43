import BramleyVerifier
import Testing

/// The library for services, against the running program.
@Suite(.timeLimit(.minutes(2)))
struct VerifierTests {
  private let serviceKey = "a service key of the tests"

  @Test(arguments: ["ES256", "RS256"])
  func `a session token is verified with nothing but issuer and audience`(_ algorithm: String) async throws {
    try await withService(["BRAMLEY_SESSION_ALG": algorithm]) { service in
      let verifier = try SessionVerifier(issuer: service.baseURL, audience: "bramley")
      let signedIn = try await service.signIn(Mint.credential { $0.email = "ada@example.com" })
      let session = try await verifier.verify(signedIn.idToken)
      #expect(session.subject == signedIn.localID)
      #expect(session.sessionID == signedIn.sessionID)
      #expect(session.email == "ada@example.com")
      #expect(session.signInProvider == "apple.com")
      let other = try SessionVerifier(issuer: service.baseURL, audience: "other")
      await #expect(throws: VerificationError.wrongAudience) { try await other.verify(signedIn.idToken) }
      // Offline from here on.
      try await service.kill()
      _ = try await verifier.verify(signedIn.idToken)
    }
  }

  @Test func `a session that was ended is refused as soon as the feed says so`() async throws {
    try await withService(["BRAMLEY_SERVICE_KEYS": serviceKey]) { service in
      let verifier = try SessionVerifier(
        issuer: service.baseURL, audience: "bramley", revocations: RevocationFeed(serviceKey: serviceKey))
      let (ended, other) = (
        try await service.signIn(Mint.credential()), try await service.signIn(Mint.credential())
      )
      _ = try await verifier.verify(ended.idToken)
      let out = try await service.send(
        .post("/v1/signOut", json: #"{"refreshToken":"\#(ended.refreshToken)"}"#))
      #expect(out.status == 200, "\(out)")
      // The long poll ends within the time limit of this suite, or the test fails.
      var refusal: VerificationError?
      while refusal == nil {
        do throws(VerificationError) { _ = try await verifier.verify(ended.idToken) } catch {
          refusal = error
        }
        _ = try await service.get("/livez")
      }
      #expect(refusal == .revoked)
      _ = try await verifier.verify(other.idToken)
    }
  }

  @Test func `a person who was disabled and enabled again is let in again`() async throws {
    let settings = Administrator.settings.merging(["BRAMLEY_SERVICE_KEYS": serviceKey]) { $1 }
    try await withService(settings) { service in
      let visitor = Operator(service: service)
      let verifier = try SessionVerifier(
        issuer: service.baseURL, audience: "bramley", revocations: RevocationFeed(serviceKey: serviceKey))
      let subject = Mint.subject()
      let person = try await service.signIn(Mint.credential { $0.subject = subject })
      func isRefused(_ token: String) async -> Bool {
        do throws(VerificationError) {
          _ = try await verifier.verify(token)
          return false
        } catch {
          #expect(error == .revoked)
          return true
        }
      }
      #expect(await isRefused(person.idToken) == false)
      try await visitor.done("PATCH", "/users/\(person.localID)", #"{"disabled":true}"#)
      try await service.waits("the feed does not say so") { await isRefused(person.idToken) }
      try await visitor.done("PATCH", "/users/\(person.localID)", #"{"disabled":false}"#)
      let again = try await service.signIn(Mint.credential { $0.subject = subject })
      try await service.waits("the person is still refused") { await !isRefused(again.idToken) }
      #expect(await isRefused(person.idToken) == false)
    }
  }

  @Test func `without a right service key nothing is accepted`() async throws {
    try await withService(["BRAMLEY_SERVICE_KEYS": serviceKey]) { service in
      let verifier = try SessionVerifier(
        issuer: service.baseURL, audience: "bramley", revocations: RevocationFeed(serviceKey: "another"))
      let token = try await service.signIn(Mint.credential()).idToken
      await #expect(throws: VerificationError.revocationsUnavailable) { try await verifier.verify(token) }
    }
  }
}
