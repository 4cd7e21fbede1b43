import AppleIdentity
import Crypto
import Domain
import ProviderTokens
import TestSupport
import Testing
import Wire

private let clock = ManualClock()
private let subject = Subject(unchecked: AppleClaims.subject)
private let client = ClientID(unchecked: AppleClaims.audience)
private let rules = IdentityTokenRules(
  issuers: ["https://appleid.apple.com"], clients: [client: .standard], maximumAge: 3600, leeway: 60)

/// A code held against its token, and the token that comes back for it.
@Suite struct ReturnedTokenTests {
  private func verified(_ claims: AppleClaims) throws -> VerifiedIdentityToken {
    try UnverifiedIdentityToken(parsing: TokenForge.apple.token(claims), rules: rules)
      .verified(by: TokenForge.apple.key.publicKey, rules: rules, now: clock.now)
  }

  @Test func `c_hash is the left half of the code's SHA-256`() throws {
    // OpenID Connect Core 1.0, appendix A.3: the sample's code and its c_hash.
    let code = "Qcb0Orv1zh30vL1MPRsbm-diHiMwcLyZvn1arpZv-Jxf_11jnpEX3Tgfvk"
    let token = try verified(
      AppleClaims(issuedAt: clock.now).setting("c_hash", jsonText("LDktKdoQak3Pk0cnXxCltA")))
    #expect(token.fit(of: code) == .bound)
    for other in [code + "x", String(code.dropLast()), "", code.lowercased()] {
      #expect(token.fit(of: other) == .foreign)
    }
  }

  @Test func `a token without c_hash says nothing of a code, and one of another type is refused`() throws {
    for absent in [nil, "null", "\"\""] {
      let claims = AppleClaims(issuedAt: clock.now).setting("c_hash", absent)
      #expect(try verified(claims).fit(of: "code") == .unbound)
    }
    for other in ["7", "true", "[]", "{}"] {
      #expect(throws: IdentityTokenRefusal.claimInvalid) {
        try verified(AppleClaims(issuedAt: clock.now).setting("c_hash", other))
      }
    }
  }

  private func check(
    _ token: String?, subject: Subject? = subject, client: ClientID = client
  ) async -> ReturnedTokenFault? {
    let directory = KeyDirectory(
      url: "https://appleid.apple.com/auth/keys", form: .keySet, policy: .standard,
      fetcher: ScriptedFetcher([.answer(.json(TokenForge.apple.keySet))]), clock: clock.steady,
      report: { _ in })
    do throws(ReturnedTokenFault) {
      try await checkReturnedToken(
        token.map { Secret($0) }, subject: subject, client: client, rules: rules, directory: directory,
        clock: clock.wall)
      return nil
    } catch {
      return error
    }
  }

  @Test func `O11 only the token of the same person and client is good`() async throws {
    let good = TokenForge.apple.token(AppleClaims(issuedAt: clock.now).setting("nonce", nil))
    #expect(await check(good) == nil)
    #expect(await check(good, subject: nil) == nil)
    #expect(await check(nil) == .missing)
    #expect(await check(good, subject: Subject(unchecked: "another")) == .otherPerson)
    #expect(await check(good, client: ClientID(unchecked: "com.example.web")) == .otherPerson)
    #expect(
      await check(TokenForge.stranger.token(AppleClaims(issuedAt: clock.now))) == .refused(.signatureInvalid))
    #expect(await check("nonsense") == .refused(.tokenMalformed))
    let old = TokenForge.apple.token(AppleClaims(issuedAt: clock.now - 90_000))
    #expect(await check(old) == .refused(.tokenExpired))
  }
}
