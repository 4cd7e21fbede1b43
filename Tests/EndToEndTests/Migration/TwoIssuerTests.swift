import Foundation
import TestProcesses
import Testing
import Wire

/// The recipe of the README for the weeks in which tokens of both issuers are about.
@Suite(.timeLimit(.minutes(10)), .enabled(if: Program.clientsPython != nil))
struct TwoIssuerTests {
  private static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Clients/two_issuers.py")
    .path

  @Test func `a back end takes the tokens of both, each by its own keys, and knows one person by both`()
    async throws
  {
    let python = try #require(Program.clientsPython)
    try await withGoogle { google, stage, service in
      let path = try stage.write(Export(users: [Export.user("ada", apple: "001.ada")]).text, to: "users.json")
      try #require(try await stage.importUsers(path).status == 0)
      let theirs = try google.token("ada")
      let ours = try await service.handOver(theirs)
      // What each says of itself, signed by the other or by nobody.
      let crossed = [
        try google.token("ada", setting: ["iss": .text(service.baseURL), "aud": .text("bramley")]),
        try google.token("ada", by: GoogleDouble.stranger.get()),
        try google.token("ada", setting: ["aud": .text("bramley")]),
        try google.token("ada", setting: ["iss": .text("https://securetoken.google.com/other")]),
        try google.token("ada", header: #"{"alg":"none","kid":"google-1"}"#), "nonsense",
      ]
      let tokens = [theirs, ours.idToken] + crossed
      let keys = try #require(google.settings["BRAMLEY_FIREBASE_KEYS_URL"])
      let finished = try await run(
        python,
        [
          Self.script, "--bramley", service.baseURL, "--firebase", GoogleDouble.project, "--firebase-keys",
          keys,
        ], input: tokens.joined(separator: "\n") + "\n")
      #expect(finished.status == 0, "\(finished.errors)")
      let answers = finished.output.split(separator: "\n").map(String.init)
      #expect(answers == ["ada", "ada"] + crossed.map { _ in "refused" })
    }
  }
}
