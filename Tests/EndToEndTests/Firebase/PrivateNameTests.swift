import Foundation
import Testing
import Wire

/// Google's names by private DNS, with a private certificate: no client is changed.
@Suite(.timeLimit(.minutes(10)), .enabled(if: Program.clientsPython != nil))
struct PrivateNameTests {
  private static let names = [
    "www.googleapis.com", "identitytoolkit.googleapis.com", "securetoken.googleapis.com",
    "securetoken.google.com",
  ]

  @Test func `firebase-admin verifies and manages with Google's addresses as they are built in`() async throws
  {
    try await withStage { stage in
      let (certificate, key) = ("\(stage.folder)/google.crt", "\(stage.folder)/google.key")
      let made = try await run(
        "/usr/bin/openssl",
        [
          "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=a private authority",
          "-addext", "subjectAltName=" + Self.names.map { "DNS:\($0)" }.joined(separator: ","), "-keyout",
          key,
          "-out", certificate,
        ])
      try #require(made.status == 0, "\(made.errors)")
      let service = try await stage.start([
        "BRAMLEY_TLS_CERT": certificate, "BRAMLEY_TLS_KEY": key, "BRAMLEY_SESSION_ALG": "RS256",
        "BRAMLEY_ISSUER": "firebase", "BRAMLEY_PROJECT_ID": "my-project",
        "BRAMLEY_ADMIN_TOKEN": "an-administrators-token",
      ])
      let nonce = "private-network-\(Mint.number())"
      let token = try Mint.token { $0.rawNonce = nonce }
      let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
      let finished = try await run(
        try #require(Program.clientsPython),
        [
          tests.appendingPathComponent("Clients/firebase_private_dns.py").path, String(service.port),
          "my-project", "--admin-token", "an-administrators-token", "--apple-token", token, "--nonce", nonce,
        ], environment: ["REQUESTS_CA_BUNDLE": certificate, "PYTHONDONTWRITEBYTECODE": "1"])
      #expect(finished.status == 0, "\(finished.output)\(finished.errors)")
      #expect(try finished.json.texts("passed").count == 6)
    }
  }
}
