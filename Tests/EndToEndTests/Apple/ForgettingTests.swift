import Foundation
import TestProcesses
import Testing
import Wire

/// What is left of somebody who is gone: nothing, in whatever file.
@Suite(.timeLimit(.minutes(10)))
struct ForgettingTests {
  private func name(_ word: String) -> [String: String] { ["fullName": #"{"givenName":"\#(word)"}"#] }

  /// Waits until no byte of the database, its log included, has a word any more.
  private func forgets(_ stage: Stage, _ words: [String]) async throws {
    for word in words {
      try await eventually("\(word) is forgotten") {
        try stage.databaseBytes().range(of: Data(word.utf8)) == nil
      }
    }
  }

  @Test(arguments: ["own", "delete", "anonymise", "command"])
  func `whoever goes is gone from every file, within seconds`(_ way: String) async throws {
    try await withStage { stage in
      let policy = way == "anonymise" ? way : "delete"
      let service = try await stage.start(["BRAMLEY_ACCOUNT_DELETED_POLICY": policy])
      let subject = Mint.subject()
      let address = "zaphod.\(Mint.number())@privaterelay.appleid.com"
      let session = try await service.signIn(subject: subject, email: address, name("Beeblebrox"))
      _ = try await service.signIn(subject: Mint.subject(), email: "ford@example.com")
      // A type that nobody knows is kept, and nothing of whom it is about.
      try await service.notify("something-new", of: subject) { $0.email = address }
      #expect(try stage.databaseBytes().range(of: Data(address.utf8)) != nil)
      switch way {
      case "own": #expect(try await service.deleteAccount(session.idToken).status == 200)
      case "command": #expect(try await stage.command("users", "delete", session.localID).status == 0)
      default: try await service.notify("account-deleted", of: subject)
      }
      try await forgets(stage, [address, "Beeblebrox"] + (way == "anonymise" ? [] : [subject]))
      #expect(try stage.databaseBytes().range(of: Data("ford@example.com".utf8)) != nil)
      #expect(
        try await stage.command("apple", "notifications", "--json").json.objects("notifications").count == 1)
    }
  }

  @Test func `what a person does not want to be called any more is gone from every file`() async throws {
    try await withStage { stage in
      let service = try await stage.start()
      let session = try await service.signIn(subject: Mint.subject())
      func call(_ name: String) async throws {
        let answer = try await service.send(
          HTTPRequest(
            method: "PATCH", path: "/v1/account",
            headers: [("Authorization", "Bearer \(session.idToken)"), ("Content-Type", "application/json")],
            body: Array(#"{"displayName":"\#(name)"}"#.utf8)))
        #expect(answer.status == 200, "\(answer)")
      }
      try await call("Slartibartfast")
      try await call("Arthur")
      try await forgets(stage, ["Slartibartfast"])
    }
  }
}
