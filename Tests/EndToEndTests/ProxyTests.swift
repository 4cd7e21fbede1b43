import Testing
import Wire

/// Whom `X-Forwarded-For` is believed from, and what else a proxy's header may not do.
@Suite(.timeLimit(.minutes(10)))
struct ProxyTests {
  /// Spends one request of an address; 429 when it has none left.
  private func spend(_ service: Service, _ forwarded: String, _ more: String? = nil) async throws -> Int {
    let headers = [forwarded, more].compactMap { $0 }.map { (name: "X-Forwarded-For", value: $0) }
    return try await service.send(.post("/v1/signInWithIdp", json: "{}", headers: headers)).status
  }

  @Test func `attack 29 a stranger's forwarding headers do not change whom a rate counts`() async throws {
    try await withService(["BRAMLEY_RATE_SIGNIN": "2/h", "BRAMLEY_TRUSTED_PROXIES": "10.0.0.0/8"]) {
      service in
      #expect(try await spend(service, "192.0.2.1") == 400)
      #expect(try await spend(service, "192.0.2.2") == 400)
      #expect(try await spend(service, "192.0.2.3") == 429)
      #expect(try await spend(service, "10.0.0.1") == 429)
      for name in ["Forwarded", "X-Real-IP", "True-Client-IP", "CF-Connecting-IP"] {
        let answer = try await service.send(
          .post("/v1/signInWithIdp", json: "{}", headers: [(name, "192.0.2.9")]))
        #expect(answer.status == 429, "\(name)")
      }
    }
  }

  @Test func `attack 29 a trusted proxy is believed from the right, up to the first stranger`() async throws {
    let settings = ["BRAMLEY_RATE_SIGNIN": "1/h", "BRAMLEY_TRUSTED_PROXIES": "127.0.0.1, 10.0.0.0/8"]
    try await withService(settings) { service async throws in
      #expect(try await spend(service, "192.0.2.1") == 400)
      #expect(try await spend(service, "192.0.2.1") == 429)
      // What stands left of the first stranger was written by him.
      #expect(try await spend(service, "198.51.100.7, 192.0.2.1") == 429)
      #expect(try await spend(service, "198.51.100.7, 192.0.2.1, 10.1.2.3") == 429)
      #expect(try await spend(service, "198.51.100.7", "192.0.2.1,10.1.2.3 , 10.9.9.9") == 429)
      #expect(try await spend(service, "192.0.2.2, 10.1.2.3") == 400)
      // Nonsense ends the walk where it stands.
      #expect(try await spend(service, "192.0.2.3, nonsense, 10.1.2.3") == 400)
      #expect(try await spend(service, "192.0.2.4, nonsense, 10.1.2.3") == 429)
    }
  }

  @Test func `attack 30 one IPv6 network and one address in other spellings share a rate`() async throws {
    let settings = ["BRAMLEY_RATE_SIGNIN": "1/h", "BRAMLEY_TRUSTED_PROXIES": "127.0.0.1"]
    try await withService(settings) { service async throws in
      #expect(try await spend(service, "2001:db8:1:2::1") == 400)
      for address in [
        "2001:db8:1:2::2", "2001:DB8:1:2:ffff:ffff:ffff:ffff", "2001:0db8:0001:0002:0:0:0:7",
        "2001:db8:1:2::192.0.2.1",
      ] { #expect(try await spend(service, address) == 429, "\(address)") }
      #expect(try await spend(service, "2001:db8:1:3::1") == 400)
      #expect(try await spend(service, "192.0.2.77") == 400)
      for address in ["::ffff:192.0.2.77", "::FFFF:C000:24D", " 192.0.2.77\t"] {
        #expect(try await spend(service, address) == 429, "\(address)")
      }
    }
  }

  @Test func `attack 29 no header changes issuer and links`() async throws {
    try await withService(["BRAMLEY_TRUSTED_PROXIES": "127.0.0.1"]) { service in
      let plain = try await service.get("/.well-known/openid-configuration")
      let spoofed = try await service.get(
        "/.well-known/openid-configuration",
        headers: [
          ("X-Forwarded-Host", "evil.example"), ("X-Forwarded-Proto", "https"), ("X-Forwarded-Port", "443"),
          ("Forwarded", "host=evil.example;proto=https"), ("X-Original-URL", "/metrics"),
        ])
      #expect(spoofed.body == plain.body)
      let (_, claims) = try await service.read(service.signIn(Mint.credential()).idToken)
      #expect(claims.text("iss") == service.baseURL)
    }
  }
}
