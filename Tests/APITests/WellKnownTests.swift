import API
import HTTPServer
import JOSE
import TestSupport
import Testing
import Wire

@Suite struct WellKnownTests {
  private let paths = ["/.well-known/jwks.json", "/.well-known/openid-configuration", "/v1/certs"]

  @Test func `the key set is the one that tokens verify with`() async throws {
    let bench = try await Bench()
    let set = try KeySet(parsing: try await bench.send("GET", paths[0]).body)
    #expect(set.count == 2)
    let text = try #require(try await bench.signIn().object().text("idToken"))
    let token = try CompactToken(parsing: text.utf8)
    let id = try #require(token.header.keyID)
    try token.verify(with: try #require(set[id]))
    let certificates = try await bench.send("GET", paths[2]).object()
    #expect(certificates.names.contains(id.text))
  }

  @Test func `public documents may be kept, for less than a new key waits`() async throws {
    let bench = try await Bench()
    for path in paths {
      let response = try await bench.send("GET", path)
      #expect(response.status == 200)
      #expect(response.headers.all("Cache-Control") == ["public, max-age=900"])
      let tag = try #require(response.headers.first("ETag"))
      #expect(tag.hasPrefix("\"") && tag.hasSuffix("\""))
    }
  }

  @Test func `who knows a document is not sent it again`() async throws {
    let bench = try await Bench()
    for path in paths {
      let tag = try #require(try await bench.send("GET", path).headers.first("ETag"))
      for known in [tag, "W/\(tag)", "\"x\", \(tag)", "\"x\",W/\(tag) , \"y\"", "*"] {
        let response = try await bench.send("GET", path, headers: ["If-None-Match": known])
        // The listener announces the length of this body and sends none of it.
        #expect(response.status == 304)
        #expect(!response.body.isEmpty)
        #expect(response.headers.all("ETag") == [tag])
        #expect(response.headers.all("Cache-Control") == ["public, max-age=900"])
      }
      for other in ["\"x\"", "", String(tag.dropLast()), "W/\"x\""] {
        #expect(try await bench.send("GET", path, headers: ["If-None-Match": other]).status == 200)
      }
    }
  }

  @Test func `discovery names what is there`() async throws {
    let bench = try await Bench()
    let document = try await bench.send("GET", paths[1]).object()
    #expect(document.text("issuer") == "https://auth.example.com")
    #expect(document.text("jwks_uri") == "https://auth.example.com/.well-known/jwks.json")
    #expect(document.bytes.count > 100)
  }

  @Test func `ready says what is missing, live says only that it lives`() async throws {
    let bench = try await Bench()
    #expect(try await bench.send("GET", "/readyz").status == 200)
    let cases = [
      (
        Readiness(database: false, signingKey: true, appleKeys: true, isShuttingDown: false),
        "storage_unavailable"
      ),
      (
        Readiness(database: true, signingKey: false, appleKeys: true, isShuttingDown: false),
        "signing_key_unavailable"
      ),
      (
        Readiness(database: true, signingKey: true, appleKeys: false, isShuttingDown: false),
        "apple_keys_unavailable"
      ),
      (Readiness(database: true, signingKey: true, appleKeys: true, isShuttingDown: true), "shutting_down"),
    ]
    for (readiness, reason) in cases {
      let bench = try await Bench(readiness: readiness)
      let response = try await bench.send("GET", "/readyz")
      #expect(response.status == 503)
      #expect(response.reason == reason)
      #expect(response.headers.first("Retry-After") != nil)
      #expect(try await bench.send("GET", "/livez").status == 200)
    }
  }

  @Test func `a nonce of ours is made, with its hash`() async throws {
    let bench = try await Bench()
    let response = try await bench.send("POST", "/v1/nonces")
    let answer = try response.object()
    #expect(answer.names == ["nonce", "sha256", "expiresIn"])
    #expect(answer.text("expiresIn") == "300")
    #expect(answer.text("sha256")?.utf8.count == 64)
    #expect(response.headers.all("Cache-Control") == ["no-store"])
  }
}
