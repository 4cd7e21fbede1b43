import TestProcesses
import Testing
import Wire

/// The K rows: the service while Apple's keys are missing, slow or nonsense.
@Suite(.timeLimit(.minutes(2)))
struct AppleOutageTests {
  /// Waits until the service's log tells an event of the key fetches.
  private func wait(for event: String, _ service: Service) async throws {
    _ = try await service.process.state.first { state in
      lines(state.output).contains { $0.contains("\"\(event)\"") } ? true : nil
    }
  }

  @Test func `K17 it starts without Apple, says so, and goes on once the keys have come`() async throws {
    try await withMisbehavingApple("closed") { apple, stage in
      let service = try await stage.start()
      #expect(try await service.get("/livez").status == 200)
      let notReady = try await service.get("/readyz")
      try expect(notReady, is: .outage("apple_keys_unavailable"))
      #expect(try notReady.json.object("checks")?.flag("appleKeys") == false)
      #expect(try notReady.json.object("checks")?.flag("database") == true)
      let credential = try Mint.credential()
      try expect(await service.trySignIn(credential), is: .outage("apple_keys_unavailable"))
      // What needs no key of Apple's is judged without one.
      try expect(
        await service.trySignIn(Mint.credential { $0.audience = "com.other" }),
        is: .token("audience_not_allowed"))
      #expect(try await service.get("/.well-known/jwks.json").status == 200)

      try await apple.behave("good")
      // The service tries again by itself; its log says when that worked.
      try await wait(for: "apple_keys_fetched", service)
      #expect(try await service.get("/readyz").status == 200)
      #expect(try await service.signIn(credential).isNewUser)

      try await apple.kill()
      // With keys in memory nobody notices.
      _ = try await service.signIn(Mint.credential())
      #expect(try await service.get("/readyz").status == 200)
    }
  }

  @Test(arguments: [
    "forbidden", "unavailable", "empty", "page", "truncated", "stalled", "endless", "redirect", "closed",
  ])
  func `attack 33 K10 K11 K13 K20 nonsense in place of keys is an outage, and over when keys come`(
    _ behaviour: String
  ) async throws {
    try await withMisbehavingApple(behaviour) { apple, stage in
      let service = try await stage.start()
      let credential = try Mint.credential()
      try expect(await service.trySignIn(credential), is: .outage("apple_keys_unavailable"))
      // Nothing else is held up meanwhile.
      #expect(try await service.get("/livez").status == 200)
      try await apple.behave("good")
      try await wait(for: "apple_keys_fetched", service)
      #expect(try await service.signIn(credential).isNewUser)
      // And what is known stays known.
      try await apple.behave(behaviour)
      _ = try await service.signIn(Mint.credential())
    }
  }

  @Test func `K07 strange entries cost only themselves`() async throws {
    try await withMisbehavingApple("mixed") { _, stage in
      let service = try await stage.start()
      for key in ["MCKa7Qw2Zp", "MCKb5Xe8Rt", "MCKc3Ly6Uv"] {
        _ = try await service.signIn(Mint.credential { $0.keyName = key })
      }
      for name in ["pqKey00001", "padded0001", "weak000001", "encKey0001"] {
        let credential = try Mint.credential { $0.header = [member("kid", name)] }
        try expect(await service.trySignIn(credential), is: .token("key_unknown"))
      }
    }
  }

  @Test func `K14 a sign-in waits for keys that come slowly, once for all that wait`() async throws {
    try await withMisbehavingApple("slow", milliseconds: 3000) { apple, stage in
      let service = try await stage.start()
      let bodies = try (0..<10).map { _ in try Mint.credential().body() }
      let answers = try await inParallel(10, port: service.port) { .signIn(bodies[$0]) }
      for answer in answers { #expect(answer.status == 200, "\(answer)") }
      #expect(try await apple.keyRequests() == 1)
    }
  }

  @Test func `K04 K16 unknown key ids do not hammer Apple, and known ones are served meanwhile`() async throws
  {
    try await withMisbehavingApple("early") { apple, stage in
      let service = try await stage.start()
      _ = try await service.signIn(Mint.credential())
      let bodies = try (0..<200).map { number in
        try Mint.credential { $0.header = [member("kid", "kid\(number)")] }.body()
      }
      let answers = try await inParallel(200, port: service.port) { .signIn(bodies[$0]) }
      for answer in answers { try expect(answer, is: .token("key_unknown")) }
      _ = try await service.signIn(Mint.credential())
      #expect(try await apple.keyRequests() <= 2)
    }
  }
}
