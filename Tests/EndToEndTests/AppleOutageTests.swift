import Testing
import Wire

/// The service without Apple, and with Apple back.
@Suite(.timeLimit(.minutes(2)))
struct AppleOutageTests {
  @Test func `K17 it starts without Apple, says so, and goes on once the keys have come`() async throws {
    // A port that was just given out and is closed again: nobody listens there until the stand-in does.
    let placeholder = try await MockAppleProgram.start()
    placeholder.process.send(signal: 9)
    try await placeholder.process.ended()
    try await withStage(appleURL: placeholder.baseURL) { stage in
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

      let apple = try await MockAppleProgram.start(listen: "127.0.0.1:\(placeholder.port)")
      // The service tries again by itself; its log says when that worked.
      _ = try await service.process.state.first { state in
        lines(state.output).contains { $0.contains("apple_keys_fetched") } ? true : nil
      }
      #expect(try await service.get("/readyz").status == 200)
      #expect(try await service.signIn(credential).isNewUser)

      apple.process.send(signal: 9)
      try await apple.process.ended()
      // With keys in memory nobody notices; the last fetch succeeded, so a strange key is a bad token.
      _ = try await service.signIn(Mint.credential())
      #expect(try await service.get("/readyz").status == 200)
    }
  }
}
