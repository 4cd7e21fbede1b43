import Testing
import Wire

/// C01, C02, C04, C05: many first sign-ins of one person at once.
@Suite(.timeLimit(.minutes(10)))
struct FirstSignInTests {
  @Test func `C01 C02 C04 C05 fifty first sign-ins at once make one account`() async throws {
    try await withStage { stage in
      let service = try await stage.start()
      // The keys are there, so that nothing but the race is left.
      _ = try await service.signIn(Mint.credential())
      let subject = Mint.subject()
      let credentials = try (0..<50).map { _ in
        try Mint.credential { order in
          order.subject = subject
          order.email = "ada@example.com"
        }
      }
      let answers = try await inParallel(50, port: service.port) { .signIn(credentials[$0].body()) }
      let sessions = try answers.map { try SignedIn($0) }
      #expect(sessions.count == 50)
      #expect(Set(sessions.map(\.localID)).count == 1)
      #expect(sessions.count(where: \.isNewUser) == 1)
      #expect(Set(sessions.map(\.sessionID)).count == 50)
      let users = try await stage.command("users", "list", "--json").json.objects("users")
      let holders = users.filter { $0.objects("identities").first?.text("subject") == subject }
      #expect(holders.count == 1)
      #expect(users.count == 2)
      for session in sessions.prefix(5) { _ = try await service.refresh(session.refreshToken) }
    }
  }

  @Test func `U10 subjects are compared as bytes`() async throws {
    try await withService { service in
      let subject = Mint.subject()
      let lower = try await service.signIn(Mint.credential { $0.subject = subject })
      let upper = try await service.signIn(Mint.credential { $0.subject = subject.uppercased() })
      #expect(upper.localID != lower.localID)
      #expect(upper.isNewUser)
      // Apple's are ASCII; others, which Unicode may call equal, are not taken at all.
      for strange in ["caf\u{E9}", "cafe\u{301}", "a b", "a\nb"] {
        try expect(
          await service.trySignIn(Mint.credential { $0.subject = strange }), is: .token("claim_invalid"))
      }
    }
  }
}
