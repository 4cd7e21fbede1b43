import Glibc
import TestProcesses
import Testing
import Wire

/// What a clean restart keeps: everything.
@Suite(.timeLimit(.minutes(10)))
struct RestartTests {
  @Test func `sessions, accounts and keys survive`() async throws {
    try await withStage { stage in
      let settings = ["BRAMLEY_PUBLIC_URL": "https://auth.example.com"]
      let subject = Mint.subject()
      let before = try await stage.start(settings)
      let credential = try Mint.credential { $0.subject = subject }
      let signedIn = try await before.signIn(credential, ["fullName": #"{"givenName":"Ada"}"#])
      let keySet = try await before.get("/.well-known/jwks.json")
      let certificates = try await before.get("/v1/certs")
      try await before.stop()

      let after = try await stage.start(settings)
      #expect(try await after.get("/.well-known/jwks.json").body == keySet.body)
      #expect(try await after.get("/.well-known/jwks.json")["ETag"] == keySet["ETag"])
      #expect(try await after.get("/v1/certs").body == certificates.body)
      // The retry window outlives the process.
      #expect(try await after.signIn(credential).refreshToken == signedIn.refreshToken)
      _ = try await after.read(signedIn.idToken)
      _ = try await after.refresh(signedIn.refreshToken)
      let again = try await after.trySignIn(Mint.credential { $0.subject = subject })
      #expect(try SignedIn(again).localID == signedIn.localID)
      #expect(try again.json.text("displayName") == "Ada")
      try expect(await after.trySignIn(credential), is: .nonce("credential_already_used"))
    }
  }

  @Test func `who connects while a service starts waits a moment, and is answered`() async throws {
    try await withStage { stage in
      var service = try await stage.start()
      let port = service.port
      for _ in 1...5 {
        try await service.stop()
        try await withThrowingTaskGroup(of: HTTPAnswer.self) { group in
          for _ in 1...4 {
            group.addTask { try await firstAnswer(HTTPRequest(path: "/v1/certs"), port: port) }
          }
          service = try await stage.start(["BRAMLEY_LISTEN": "127.0.0.1:\(port)"])
          for try await answer in group {
            #expect(answer.status == 200, "\(answer)")
            #expect(!answer.body.isEmpty)
          }
        }
      }
    }
  }

  @Test func `a change of the algorithm keeps the old key signing and publishes the new one`() async throws {
    try await withStage { stage in
      let before = try await stage.start()
      let kids = try await before.get("/.well-known/jwks.json").json.objects("keys").compactMap {
        $0.text("kid")
      }
      let old = try await before.signIn(Mint.credential())
      try await before.stop()
      let after = try await stage.start(["BRAMLEY_SESSION_ALG": "RS256"])
      let keys = try await after.get("/.well-known/jwks.json").json.objects("keys")
      #expect(Set(keys.compactMap { $0.text("kid") }).isSuperset(of: kids))
      #expect(keys.contains { $0.text("alg") == "RS256" })
      let (header, _) = try await after.read(try await after.signIn(Mint.credential()).idToken)
      #expect(header.text("alg") == "ES256")
      _ = try await after.read(old.idToken)
      _ = try await after.refresh(old.refreshToken)
    }
  }

  @Test func `R04 a lost answer is repeated after a restart`() async throws {
    try await withStage { stage in
      let before = try await stage.start()
      let first = try await before.signIn(Mint.credential()).refreshToken
      let second = try await before.refresh(first)
      try await before.kill()
      let after = try await stage.start()
      #expect(try await after.refresh(first) == second)
    }
  }
}

/// The answer of who begins to listen.
private func firstAnswer(_ request: HTTPRequest, port: UInt16) async throws -> HTTPAnswer {
  try await onThread {
    while true {
      do {
        return try HTTPConnection(port: port).exchange(request)
      } catch HTTPFault.connectFailed(code: ECONNREFUSED) {
        sched_yield()
      }
    }
  }
}
