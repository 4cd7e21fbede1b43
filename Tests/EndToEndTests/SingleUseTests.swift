import Foundation
import TestProcesses
import Testing
import Wire

/// N13: one use of an Apple token, and the same answer for the same request.
@Suite(.timeLimit(.minutes(2)))
struct SingleUseTests {
  @Test func `N13 the same request gets the same session`() async throws {
    try await withService { service in
      let credential = try Mint.credential()
      let first = try await service.signIn(credential)
      let second = try await service.signIn(credential, ["fullName": #"{"givenName":"Ada"}"#])
      #expect(second.sessionID == first.sessionID)
      #expect(second.refreshToken == first.refreshToken)
      #expect(second.localID == first.localID)
      #expect(second.isNewUser)
    }
  }

  @Test func `N13 the same request twenty times in parallel gets one session`() async throws {
    try await withService { service in
      let credential = try Mint.credential()
      let answers = try await inParallel(20, port: service.port) { _ in .signIn(credential.body()) }
      let sessions = try answers.map { try SignedIn($0) }
      #expect(Set(sessions.map(\.sessionID)).count == 1)
      #expect(Set(sessions.map(\.refreshToken)).count == 1)
      #expect(sessions.allSatisfy { $0.isNewUser })
      _ = try await service.refresh(sessions[0].refreshToken)
    }
  }

  @Test func `N13 after the first refresh the credential is used up`() async throws {
    try await withService { service in
      let credential = try Mint.credential()
      _ = try await service.refresh(service.signIn(credential).refreshToken)
      for _ in 0..<2 {
        try expect(await service.trySignIn(credential), is: .nonce("credential_already_used"))
      }
    }
  }

  @Test func `N13 the same token with another link target is another request`() async throws {
    try await withService { service in
      let credential = try Mint.credential()
      let signedIn = try await service.signIn(credential)
      let answer = try await service.trySignIn(credential, bearer: signedIn.idToken)
      try expect(answer, is: .nonce("credential_already_used"))
    }
  }

  @Test func `N13 with the retry window at zero the very same second may pass, and no refresh is burnt`()
    async throws
  {
    try await withService(["BRAMLEY_RETRY_WINDOW": "0"]) { service in
      let credential = try Mint.credential()
      let first = try await service.signIn(credential)
      let again = try await service.trySignIn(credential)
      if again.status == 200 {
        #expect(try SignedIn(again).refreshToken == first.refreshToken)
      } else {
        try expect(again, is: .nonce("credential_already_used"))
      }
      _ = try await service.refresh(first.refreshToken)
    }
  }

  @Test func `N13 if the first attempt failed with 503 for the database, the retry works`() async throws {
    try await withStage { stage in
      let service = try await stage.start()
      let known = try await service.signIn(Mint.credential())
      let credential = try Mint.credential()
      let holder = try await stage.lockDatabase()
      async let signIn = service.trySignIn(credential)
      async let refresh = service.tryRefresh(known.refreshToken)
      try expect(await signIn, is: .outage("storage_unavailable"))
      try expect(await refresh, is: .outage("storage_unavailable"))
      let ready = try await service.get("/readyz")
      try expect(ready, is: .outage("storage_unavailable"))
      #expect(try ready.json.object("checks")?.flag("database") == false)
      #expect(try await service.get("/.well-known/jwks.json").status == 200)
      holder.closeInput()
      try await holder.ended()
      let retried = try await service.signIn(credential)
      #expect(retried.isNewUser)
      _ = try await service.refresh(known.refreshToken)
      _ = try await service.refresh(retried.refreshToken)
    }
  }

  @Test func `a failed attempt burns nothing`() async throws {
    try await withService { service in
      let credential = try Mint.credential()
      let wrong = Credential(idToken: credential.idToken, rawNonce: "wrong")
      try expect(await service.trySignIn(wrong), is: .nonce("nonce_mismatch"))
      try expect(
        await service.trySignIn(credential, ["autoCreate": "false"]), is: Refusal(400, "EMAIL_NOT_FOUND"))
      #expect(try await service.signIn(credential).isNewUser)
    }
  }
}
