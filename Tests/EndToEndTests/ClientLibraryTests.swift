import Foundation
import TestProcesses
import Testing
import Wire

/// PyJWT as a back end uses it: key set by URL, token, audience, issuer.
@Suite(.timeLimit(.minutes(2)), .enabled(if: Program.clientsPython != nil))
struct ClientLibraryTests {
  private static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("Clients/verify_session.py").path

  private func verify(_ token: String, _ service: Service, audience: String = "bramley") async throws
    -> Finished
  {
    let python = try #require(Program.clientsPython)
    return try await run(
      python,
      [
        Self.script, "--key-set", service.baseURL + "/.well-known/jwks.json", "--audience", audience,
        "--issuer",
        service.baseURL,
      ], input: token)
  }

  @Test(arguments: ["ES256", "RS256"])
  func `PyJWT verifies a session token and refuses a changed one`(_ algorithm: String) async throws {
    try await withService(["BRAMLEY_SESSION_ALG": algorithm]) { service in
      let session = try await service.signIn(Mint.credential())
      let good = try await verify(session.idToken, service)
      #expect(good.status == 0, "\(good.errors)")
      #expect(good.output == session.localID + "\n")
      let parts = session.idToken.split(separator: ".").map(String.init)
      for index in parts.indices {
        var changed = parts
        var bytes = try decodeBase64URL(parts[index].utf8)
        bytes[bytes.count / 2] ^= 1
        changed[index] = base64URLText(bytes)
        let bad = try await verify(changed.joined(separator: "."), service)
        #expect(bad.status == 1, "part \(index)")
        #expect(bad.output.isEmpty)
      }
      #expect(try await verify(session.idToken, service, audience: "other").status == 1)
      let refreshed = try await service.tryRefresh(session.refreshToken).json.text("id_token")
      #expect(try await verify(#require(refreshed), service).status == 0)
    }
  }

  @Test func `PyJWT refuses the session token of another service`() async throws {
    let foreign = Watched("")
    try await withService { service in
      let token = try await service.signIn(Mint.credential()).idToken
      foreign.update { $0 = token }
    }
    try await withService { service in
      let finished = try await verify(foreign.read { $0 }, service)
      #expect(finished.status == 1)
    }
  }
}
