import Foundation
import Testing
import Wire

/// What verifiers and supervisors read.
@Suite(.timeLimit(.minutes(10)))
struct WellKnownTests {
  @Test func `the key set has two public keys and nothing private`() async throws {
    try await withService { service in
      let answer = try await service.get("/.well-known/jwks.json")
      #expect(answer.status == 200)
      let keys = try answer.json.objects("keys")
      #expect(keys.count == 2)
      #expect(Set(keys.compactMap { $0.text("kid") }).count == 2)
      for key in keys {
        for secret in ["d", "p", "q", "dp", "dq", "qi", "k"] { #expect(key[secret] == nil) }
      }
    }
  }

  @Test(arguments: ["/.well-known/jwks.json", "/.well-known/openid-configuration", "/v1/certs"])
  func `a public document is cacheable and known again by its tag`(_ path: String) async throws {
    try await withService { service in
      let whole = try await service.get(path)
      let tag = try #require(whole["ETag"])
      #expect(tag.hasPrefix("\"") && tag.hasSuffix("\"") && tag.count > 10)
      #expect(whole["Cache-Control"] == "public, max-age=900")
      for known in [tag, "\"other\", \(tag)", "W/\(tag)", "*"] {
        let again = try await service.get(path, headers: [("If-None-Match", known)])
        #expect(again.status == 304, "\(known)")
        #expect(again["ETag"] == tag)
        #expect(again.body.isEmpty)
      }
      #expect(try await service.get(path, headers: [("If-None-Match", "\"other\"")]).status == 200)
      let head = try await service.send(HTTPRequest(method: "HEAD", path: path))
      #expect(head.status == 200)
      #expect(head["ETag"] == tag)
    }
  }

  @Test func `the certificates are the key set's keys under the same names`() async throws {
    try await withService { service in
      let keys = try await service.get("/.well-known/jwks.json").json.objects("keys")
      let certificates = try await service.get("/v1/certs").json
      #expect(Set(certificates.names) == Set(keys.compactMap { $0.text("kid") }))
      for name in certificates.names {
        let text = certificates.text(name) ?? ""
        #expect(text.hasPrefix("-----BEGIN CERTIFICATE-----\n"))
        #expect(text.hasSuffix("-----END CERTIFICATE-----\n"))
      }
    }
  }

  @Test func `discovery names the issuer and where things are`() async throws {
    let settings = [
      "BRAMLEY_PUBLIC_URL": "https://auth.example.com", "BRAMLEY_ISSUER": "https://id.example.com",
    ]
    try await withService(settings) { service in
      let json = try await service.get("/.well-known/openid-configuration").json
      #expect(json.text("issuer") == "https://id.example.com")
      #expect(json.text("jwks_uri") == "https://auth.example.com/.well-known/jwks.json")
      #expect(json.text("token_endpoint") == "https://auth.example.com/v1/token")
      #expect(json.texts("id_token_signing_alg_values_supported") == ["ES256"])
      #expect(json.texts("subject_types_supported") == ["public"])
    }
  }

  @Test func `it is live, and ready once Apple's keys have come`() async throws {
    try await withService { service in
      #expect(try await service.get("/livez").status == 200)
      // A sign-in waits for the first fetch.
      _ = try await service.signIn(Mint.credential())
      let ready = try await service.get("/readyz")
      #expect(ready.status == 200)
      let checks = try #require(try ready.json.object("checks"))
      for name in ["database", "signingKey", "appleKeys"] { #expect(checks.flag(name) == true) }
    }
  }

  @Test func `a nonce is made anew each time, with its digest`() async throws {
    try await withService { service in
      var seen: Set<String> = []
      for _ in 0..<3 {
        let answer = try await service.send(.post("/v1/nonces", [], type: nil))
        #expect(answer.status == 200)
        #expect(answer["Cache-Control"] == "no-store")
        let json = try answer.json
        let nonce = try #require(json.text("nonce"))
        #expect(json.text("sha256") == sha256Hex(nonce))
        #expect(json.text("expiresIn") == "300")
        #expect(seen.insert(nonce).inserted)
      }
    }
  }
}
