import Testing
import Wire

/// Rates: who asks too often is told when to come back.
@Suite(.timeLimit(.minutes(10)))
struct RateTests {
  private let refusal = Refusal(429, "TOO_MANY_ATTEMPTS_TRY_LATER")

  @Test func `sign-ins beyond the rate of an address are refused, and burn nothing`() async throws {
    try await withService(["BRAMLEY_RATE_SIGNIN": "3/h"]) { service in
      for _ in 0..<3 { _ = try await service.signIn(Mint.credential()) }
      let answer = try await service.trySignIn(Mint.credential())
      try expect(answer, is: refusal)
      let wait = try #require(answer["Retry-After"].flatMap { Int($0) })
      #expect((1...3600).contains(wait))
      #expect(try await service.get("/.well-known/jwks.json").status == 200)
    }
  }

  @Test func `refreshes beyond the rate are refused, and the token stays good`() async throws {
    try await withStage { stage in
      let limited = try await stage.start(["BRAMLEY_RATE_REFRESH": "2/h"])
      var token = try await limited.signIn(Mint.credential()).refreshToken
      for _ in 0..<2 { token = try await limited.refresh(token) }
      for _ in 0..<3 { try expect(await limited.tryRefresh(token), is: refusal) }
      try await limited.stop()
      _ = try await stage.start().refresh(token)
    }
  }

  @Test func `new accounts beyond the rate are refused, and known people still sign in`() async throws {
    try await withService(["BRAMLEY_RATE_SIGNUP": "2/h"]) { service in
      let subject = Mint.subject()
      _ = try await service.signIn(Mint.credential { $0.subject = subject })
      _ = try await service.signIn(Mint.credential())
      try expect(await service.trySignIn(Mint.credential()), is: refusal)
      _ = try await service.signIn(Mint.credential { $0.subject = subject })
    }
  }
}
