import Foundation
import TestProcesses
import Testing

/// Libraries that other people's back ends use, across a rotation of the signing keys.
@Suite(.timeLimit(.minutes(2)), .enabled(if: Program.clientsPython != nil))
struct RotationClientTests {
  private static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("Clients/verify_across_rotation.py").path

  /// Signs in until the service signs with another key than the one of `token`: it notices within two seconds.
  private func signedWithNextKey(_ service: Service, than token: String) async throws -> String {
    while true {
      let next = try await service.signIn(Mint.credential()).idToken
      if try TokenParts(next).header != TokenParts(token).header { return next }
    }
  }

  @Test(arguments: ["ES256", "RS256"])
  func `a verifier that read the key set just before a rotation never refuses a good token`(
    _ algorithm: String
  ) async throws {
    let python = try #require(Program.clientsPython)
    try await withStage { stage in
      let settings = ["BRAMLEY_SESSION_ALG": algorithm]
      let service = try await stage.start(settings)
      let before = try await service.signIn(Mint.credential()).idToken
      let files = [try stage.write(before, to: "before"), stage.folder + "/after"]
      let verifiers = stage.keep(
        try ChildProcess(
          python,
          [
            Self.script, "--key-set", service.baseURL + "/.well-known/jwks.json", "--audience",
            "bramley",
            "--issuer", service.baseURL,
          ] + files, environment: Program.environment, folder: stage.folder, input: nil))
      let hasCached: Bool = try await verifiers.state.first { state in
        lines(state.output).contains("cached") ? true : state.end.map { _ in false }
      }
      try #require(hasCached, "\(verifiers.errorText)")
      let rotated = try await stage.command(
        "keys", "rotate", "--now", "--force", settings: settings)
      try #require(rotated.status == 0, "\(rotated.errors)")
      _ = try stage.write(try await signedWithNextKey(service, than: before), to: "after")
      // Its end says that the keys were rotated.
      verifiers.closeInput()
      #expect(try await verifiers.ended() == .exit(0), "\(verifiers.errorText)")
      #expect(verifiers.outputLines.last == "2 tokens")
    }
  }
}
