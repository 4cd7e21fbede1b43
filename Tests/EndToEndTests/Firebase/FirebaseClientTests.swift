import Foundation
import Testing
import Wire

/// Firebase's and Google's own libraries against a running service.
@Suite(.timeLimit(.minutes(10)), .enabled(if: Program.clientsPython != nil))
struct FirebaseClientTests {
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Clients").path

  /// Runs a script to its end.
  ///
  /// - Returns: The one JSON object that it printed.
  private func run(
    _ script: String, _ arguments: [String], input: String = "",
    at location: SourceLocation = #_sourceLocation
  ) async throws -> JSONObject {
    let python = try #require(Program.clientsPython)
    let finished = try await EndToEndTests.run(
      python, [Self.folder + "/" + script] + arguments, environment: ["PYTHONDONTWRITEBYTECODE": "1"],
      input: input)
    try #require(finished.status == 0, "\(finished.output)\(finished.errors)", sourceLocation: location)
    return try finished.json
  }

  private func verify(_ service: Service, _ token: String, issuer: String) async throws -> JSONObject {
    try await run(
      "google_auth_verify.py",
      [
        "--certs", service.baseURL + "/v1/certs", "--key-set", service.baseURL + "/.well-known/jwks.json",
        "--audience", "bramley", "--issuer", issuer, "--token", token,
      ])
  }

  @Test func `row 22 trap 15 firebase-admin manages accounts with a token of one's own`() async throws {
    try await withAdministrator { service, _ in
      let person = try await service.signIn(Mint.credential { $0.email = "ann@example.com" })
      let report = try await run(
        "firebase_admin_calls.py",
        [
          service.baseURL, "bramley", "--id-token", person.idToken, "--admin-token", Administrator.token,
        ])
      #expect(report.text("way") == "patched")
      #expect(report.texts("passed").count >= 24)
      _ = try await service.refresh(person.refreshToken)
    }
  }

  @Test func `row 22 firebase-admin manages accounts in development mode`() async throws {
    try await withService(["BRAMLEY_DEV_MODE": "true"]) { service in
      let person = try await service.signIn(Mint.credential())
      let report = try await run(
        "firebase_admin_calls.py", [service.baseURL, "bramley", "--id-token", person.idToken])
      #expect(report.text("way") == "emulated")
      #expect(report.texts("passed").count >= 23)
    }
  }

  @Test func `row 22 firebase-admin verifies session tokens and cookies, and sees revocations`() async throws
  {
    let settings = ["BRAMLEY_SESSION_ALG": "RS256", "BRAMLEY_ISSUER": "firebase"]
    try await withAdministrator(settings) { service, _ in
      let person = try await service.signIn(Mint.credential())
      let report = try await run(
        "firebase_admin_verify.py",
        [service.baseURL, "bramley", "--id-token", person.idToken, "--admin-token", Administrator.token])
      #expect(report.texts("passed").count >= 7)
      try expect(await service.tryRefresh(person.refreshToken), is: .session("session_revoked"))
    }
  }

  @Test func `row 22 firebase-admin finds the keys where it looks for Google's`() async throws {
    let settings = ["BRAMLEY_SESSION_ALG": "RS256", "BRAMLEY_ISSUER": "firebase"]
    try await withAdministrator(settings) { service, _ in
      let person = try await service.signIn(Mint.credential())
      let google = service.baseURL + "/www.googleapis.com"
      let account = "securetoken@system.gserviceaccount.com"
      _ = try await run(
        "firebase_admin_verify.py",
        [
          service.baseURL, "bramley", "--id-token", person.idToken, "--admin-token", Administrator.token,
          "--certs", google + "/robot/v1/metadata/x509/" + account, "--cookie-certs",
          google + "/identitytoolkit/v3/relyingparty/publicKeys",
        ])
    }
  }

  @Test func `a custom token of firebase-admin signs in, an unsigned one of its emulator mode does not`()
    async throws
  {
    let forge = try CustomTokenForge(.rs256)
    try await withService(["BRAMLEY_CUSTOM_TOKEN_KEYS": forge.pem]) { service in
      let report = try await run(
        "firebase_admin_custom_token.py", [service.baseURL, "bramley"], input: forge.privatePEM)
      #expect(report.texts("passed").count == 2)
    }
  }

  @Test(arguments: ["ES256", "RS256"])
  func `row 16 google-auth verifies by certificates and by key set, and refuses a changed byte`(
    _ algorithm: String
  ) async throws {
    try await withService(["BRAMLEY_SESSION_ALG": algorithm]) { service in
      let person = try await service.signIn(Mint.credential())
      let subjects = try await verify(service, person.idToken, issuer: service.baseURL)
      #expect(subjects.text("certs") == person.localID)
      #expect(subjects.text("keySet") == person.localID)
      let refreshed = try await service.tryRefresh(person.refreshToken).json
      _ = try await verify(service, #require(refreshed.text("id_token")), issuer: service.baseURL)
    }
  }

  @Test func `row 4 a client library that cannot send a nonce is told so`() async throws {
    try await withService { service in
      let credential = try Mint.credential()
      let report = try await run(
        "firebase_client_negative.py", [service.baseURL, "bramley", "--apple-token", credential.idToken])
      #expect(report.integer("status") == 400)
      // Nothing was burnt.
      #expect(try await service.signIn(credential).isNewUser)
    }
  }
}
