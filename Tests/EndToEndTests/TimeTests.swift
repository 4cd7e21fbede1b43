import Foundation
import Testing
import Wire

/// The time of day in whole seconds.
func now() -> Int64 { Int64(time(nil)) }

/// The T rows.
@Suite(.timeLimit(.minutes(10)))
struct TimeTests {
  @Test(arguments: [5, 35, 50])
  func `attack 39 T01 T02 a token from a clock that is a little fast is taken`(_ ahead: Int64) async throws {
    try await withService { service in
      _ = try await service.signIn(Mint.credential { $0.issuedAt = now() + ahead })
    }
  }

  @Test func `attack 39 a token from the future is refused`() async throws {
    try await withService { service in
      let credential = try Mint.credential { $0.issuedAt = now() + 600 }
      try expect(await service.trySignIn(credential), is: .token("token_from_the_future"))
    }
  }

  @Test func `T05 a token that expired six hours ago is refused, and no leeway above 300 is taken`()
    async throws
  {
    try await withStage { stage in
      let service = try await stage.start(["BRAMLEY_CLOCK_LEEWAY": "300"])
      let credential = try Mint.credential { order in
        order.issuedAt = now() - 6 * 3600 - 600
        order.lifetime = 600
      }
      try expect(await service.trySignIn(credential), is: .token("token_expired"))
      let checked = try await stage.command("config", "check", settings: ["BRAMLEY_CLOCK_LEEWAY": "21600"])
      #expect(checked.status == 78)
    }
  }

  @Test func `a token that expired within the leeway is taken`() async throws {
    try await withService { service in
      _ = try await service.signIn(
        Mint.credential { order in
          order.issuedAt = now() - 600
          order.lifetime = 570
        })
    }
  }

  @Test func `a token that is valid for long is too old to sign in with all the same`() async throws {
    try await withService { service in
      let credential = try Mint.credential { $0.issuedAt = now() - 4000 }
      try expect(await service.trySignIn(credential), is: .token("token_too_old"))
    }
  }

  @Test func `attack 39 T04 T11 only whole seconds since 1970 are times`() async throws {
    try await withService { service in
      let base = now()
      let wrong: [JSONValue] = [
        .real(1e300), .integer(.max), .integer(-1), .text(String(base + 600)), .real(Double(base) + 600.5),
        .flag(true), .array([]), .integer(0), .real(568714106.499),
      ]
      for value in wrong {
        let expiry = try Mint.credential { $0.claims = [("exp", value)] }
        try expect(await service.trySignIn(expiry), is: .token("claim_invalid"))
        let issue = try Mint.credential { $0.claims = [("iat", value)] }
        try expect(await service.trySignIn(issue), is: .token("claim_invalid"))
      }
      _ = try await service.signIn(Mint.credential { $0.claims = [("exp", .real(Double(base + 600)))] })
    }
  }

  @Test func `attack 16 attack 39 T11 a number that no integer holds is refused as the token's fault`()
    async throws
  {
    try await withService { service in
      for number in ["1e400", "99999999999999999999", "-99999999999999999999"] {
        let nonce = Mint.nonce()
        let payload =
          #"{"iss":"https://appleid.apple.com","aud":"\#(Client.app)","sub":"s","iat":\#(now()),"#
          + #""exp":\#(number),"nonce":"\#(sha256Hex(nonce))"}"#
        let token = try Mint.token { $0.payload = payload }
        let answer = try await service.trySignIn(Credential(idToken: token, rawNonce: nonce))
        #expect(["token_malformed", "claim_invalid"].contains(answer.reason), "\(answer)")
      }
    }
  }
}
