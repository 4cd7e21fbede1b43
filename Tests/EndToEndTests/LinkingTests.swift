import TestProcesses
import Testing
import Wire

/// Sign-ins with a bearer: the identity is linked to that account, or nothing happens.
@Suite(.timeLimit(.minutes(10)))
struct LinkingTests {
  @Test func `a bad bearer is refused and never a plain sign-in`() async throws {
    try await withService { service in
      let credential = try Mint.credential()
      let good = try await service.signIn(Mint.credential()).idToken
      let invalid = Refusal(401, "INVALID_ID_TOKEN", "session_token_invalid")
      let headers = [
        "Bearer ", "Bearer x", "Basic eA==", good, "Bearer \(good)x", "Bearer \(good.dropLast(4))AAAA",
        "Bearer owner",
        "Bearer \(credential.idToken)", "",
      ]
      for header in headers where !header.isEmpty {
        let request = HTTPRequest.post(
          "/v1/signInWithIdp", json: credential.body(), headers: [("Authorization", header)])
        let answer = try await service.send(request)
        try expect(answer, is: invalid)
        #expect(answer["WWW-Authenticate"]?.hasPrefix("Bearer") == true)
      }
      #expect(try await service.signIn(credential).isNewUser)
    }
  }

  @Test(arguments: ["off", "verified-email"])
  func `P01 a first sign-in with a relay address makes an account of its own, and says that it is new`(
    _ linking: String
  ) async throws {
    try await withService(["BRAMLEY_ACCOUNT_LINKING": linking]) { service in
      let known = try await service.signIn(Mint.credential { $0.email = "ada@example.com" })
      let other = try await service.signIn(
        Mint.credential {
          $0.email = "x1y2z3@privaterelay.appleid.com"
          $0.claims = [("is_private_email", .flag(true))]
        })
      #expect(other.isNewUser && other.localID != known.localID)
      #expect(try await service.account(other.idToken).flag("isPrivateEmail") == true)
    }
  }

  @Test func `a session token of another server is refused`() async throws {
    let foreign = Watched("")
    try await withService { service in
      let token = try await service.signIn(Mint.credential()).idToken
      foreign.update { $0 = token }
    }
    try await withService { service in
      try expect(
        await service.trySignIn(Mint.credential(), bearer: foreign.read { $0 }),
        is: Refusal(401, "INVALID_ID_TOKEN", "session_token_invalid"))
    }
  }

  @Test func `L08 an identity that has an account is linked to no other`() async throws {
    try await withService { service in
      let (subjectA, subjectB) = (Mint.subject(), Mint.subject())
      let a = try await service.signIn(Mint.credential { $0.subject = subjectA })
      let b = try await service.signIn(Mint.credential { $0.subject = subjectB })
      let linked = Refusal(400, "FEDERATED_USER_ID_ALREADY_LINKED")
      try expect(
        await service.trySignIn(Mint.credential { $0.subject = subjectA }, bearer: b.idToken), is: linked)
      try expect(
        await service.trySignIn(Mint.credential { $0.subject = subjectA }, bearer: a.idToken), is: linked)
      #expect(try await service.signIn(Mint.credential { $0.subject = subjectA }).localID == a.localID)
      #expect(try await service.signIn(Mint.credential { $0.subject = subjectB }).localID == b.localID)
    }
  }

  @Test func `an account holds one Apple identity`() async throws {
    try await withService { service in
      let account = try await service.signIn(Mint.credential())
      let credential = try Mint.credential()
      try expect(
        await service.trySignIn(credential, bearer: account.idToken),
        is: Refusal(400, "OPERATION_NOT_ALLOWED"))
      #expect(try await service.signIn(credential).localID != account.localID)
    }
  }

  @Test func `an unknown person gets no account against the app's will, and the token stays good`()
    async throws
  {
    try await withStage { stage in
      let service = try await stage.start()
      let credential = try Mint.credential()
      try expect(
        await service.trySignIn(credential, ["autoCreate": "false"]), is: Refusal(400, "EMAIL_NOT_FOUND"))
      #expect(try await stage.command("users", "list", "--json").json.objects("users").isEmpty)
      #expect(try await service.signIn(credential, ["autoCreate": "true"]).isNewUser)
    }
  }

  @Test func `a known person signs in without autoCreate`() async throws {
    try await withService { service in
      let subject = Mint.subject()
      let first = try await service.signIn(Mint.credential { $0.subject = subject })
      let next = try await service.signIn(Mint.credential { $0.subject = subject }, ["autoCreate": "false"])
      #expect(next.localID == first.localID)
      #expect(!next.isNewUser)
    }
  }

  @Test func `an identity is added to an account that has none`() async throws {
    try await withStage { stage in
      let service = try await stage.start()
      let account = try await service.signIn(Mint.credential())
      // As an anonymous account is.
      try await stage.sql("DELETE FROM identities")
      try await stage.sql("UPDATE accounts SET is_anonymous = 1")
      let subject = Mint.subject()
      let linked = try await service.signIn(Mint.credential { $0.subject = subject }, bearer: account.idToken)
      #expect(linked.localID == account.localID)
      #expect(linked.sessionID != account.sessionID)
      #expect(!linked.isNewUser)
      try expect(await service.tryRefresh(account.refreshToken), is: .session("session_ended"))
      #expect(try await service.signIn(Mint.credential { $0.subject = subject }).localID == account.localID)
    }
  }

  @Test
  func `attack 27 attack 28 the bearer of a session that is over, or of a deleted account, links nothing`()
    async throws
  {
    try await withStage { stage in
      let service = try await stage.start()
      let account = try await service.signIn(Mint.credential())
      try await stage.sql("UPDATE sessions SET ended_as = 'revoked', ended_at = 1")
      try expect(
        await service.trySignIn(Mint.credential(), bearer: account.idToken),
        is: .session("session_revoked", 401))
      try await stage.sql("DELETE FROM accounts")
      try expect(
        await service.trySignIn(Mint.credential(), bearer: account.idToken),
        is: Refusal(400, "USER_NOT_FOUND"))
    }
  }

  @Test func `the scheme of the bearer is read without regard to case`() async throws {
    try await withService { service in
      let account = try await service.signIn(Mint.credential())
      let request = HTTPRequest.post(
        "/v1/signInWithIdp", json: try Mint.credential().body(),
        headers: [("Authorization", "bEARER \(account.idToken)")])
      try expect(await service.send(request), is: Refusal(400, "OPERATION_NOT_ALLOWED"))
    }
  }
}
