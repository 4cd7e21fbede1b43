import BramleyVerifier
import Testing

// The sample of the documentation, with nothing but what is public.

/// What a service answers to a request with a bearer token.
private struct Gate {
  let verifier: SessionVerifier

  init(serviceKey: String) throws(VerifierSetupError) {
    verifier = try SessionVerifier(
      issuer: "https://127.0.0.1:9", audience: "bramley", revocations: RevocationFeed(serviceKey: serviceKey))
  }

  func status(ofBearer token: String) async -> Int {
    do throws(VerificationError) {
      let session = try await verifier.verify(token)
      return session.claims.text("role") == "gardener" ? 200 : 403
    } catch {
      return error.isOutage ? 503 : 401
    }
  }
}

@Suite struct SampleTests {
  @Test func `what is no token is 401 though the issuer is out of reach`() async throws {
    let gate = try Gate(serviceKey: "a service key of 20")
    #expect(await gate.status(ofBearer: "nonsense") == 401)
  }
}
