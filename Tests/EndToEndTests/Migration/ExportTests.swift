import Foundation
import TestProcesses
import Testing
import Wire

/// `bramley export-firebase`, and the two forms of an export.
@Suite(.timeLimit(.minutes(10)))
struct ExportTests {
  private let people = Export(users: [
    Export.user(
      "ada", apple: "001.ada",
      [
        ("email", #""ada@example.com""#), ("emailVerified", "true"),
        ("displayName", #""Ada, \"the\" Countess""#),
        ("photoUrl", #""https://example.com/a,b.png""#), ("customAttributes", #""{\"plan\":\"pro, max\"}""#),
      ]),
    Export.user(
      "bob", [("email", #""bob@example.com""#), ("disabled", "true"), ("displayName", #""Zoë 🍎""#)]),
    #"{"localId":"cid","createdAt":"1500000000000","providerUserInfo":[{"providerId":"google.com","rawId":"g-1","email":"cid@example.com","displayName":"Cid"},{"providerId":"apple.com","rawId":"001.cid"}]}"#,
  ])

  /// Imports a text into a database of its own and writes it out again.
  private func roundTrip(_ text: String, _ name: String, to other: String) async throws -> String {
    let result = Watched("")
    try await withStage { stage in
      let path = try await stage.prepare(text, name: name)
      let finished = try await stage.importUsers(path)
      try #require(finished.status == 0, "\(finished.errors)")
      let written = try await stage.exportUsers(other)
      result.update { $0 = written }
    }
    return result.read { $0 }
  }

  @Test func `an import of an export is the same again, in both forms and from one to the other`()
    async throws
  {
    let json = try await roundTrip(people.text, "users.json", to: "out.json")
    let csv = try await roundTrip(json, "users.json", to: "out.csv")
    #expect(try await roundTrip(json, "users.json", to: "out.json") == json)
    #expect(try await roundTrip(csv, "users.csv", to: "out.csv") == csv)
    #expect(try await roundTrip(csv, "users.csv", to: "out.json") == json)
    // Nothing but what `firebase auth:import` knows: it refuses a user with anything else.
    let known: Set = [
      "localId", "email", "emailVerified", "passwordHash", "salt", "displayName", "photoUrl", "createdAt",
      "lastSignedInAt", "providerUserInfo", "phoneNumber", "disabled", "customAttributes",
    ]
    let users = try JSONObject(parsing: Array(json.utf8)).objects("users")
    #expect(users.map { $0.text("localId") } == ["ada", "bob", "cid"])
    for user in users {
      #expect(known.isSuperset(of: user.names))
      for provider in user.objects("providerUserInfo") {
        #expect(
          Set(["providerId", "rawId", "email", "displayName", "photoUrl"]).isSuperset(of: provider.names))
      }
    }
    #expect(users[0].text("lastSignedInAt") == "1600000001000")
    #expect(users[0].text("displayName") == #"Ada, "the" Countess"#)
    #expect(users[1].flag("disabled") == true)
    #expect(csv.split(separator: "\n").allSatisfy { $0.hasSuffix(",") })
  }

  /// A line as Firebase's exporter joins one: what is in quotes comes so.
  private func line(_ count: Int, _ columns: [Int: String]) -> String {
    (0..<count).map { (columns[$0] ?? "") + "," }.joined()
  }

  @Test func `lines of Firebase's own, of old exports and with its own quotes`() async throws {
    try await withStage { stage in
      let old = line(
        28,
        [
          0: "uid-1", 1: "a@example.com", 2: "true", 3: "HASH", 4: "SALT", 5: "\"Smith, Joe\"", 7: "g-1",
          23: "1500000000000", 24: "1600000000000",
        ])
      let new = line(
        52,
        [
          0: "uid-2", 2: "false", 5: #"Bob "B" Smith"#, 23: "1500000000000", 26: "true",
          27: #""{""a"":""x\"y""}""#, 28: "001.bob", 29: "b@example.com", 30: "Bob",
        ])
      let path = try await stage.prepare(old + "\n" + new + "\r\nuid-3,,false\n", name: "users.csv")
      let finished = try await stage.importUsers(path)
      #expect(finished.status == 1)
      #expect(try finished.json.integer("imported") == 2)
      #expect(finished.errors.contains("user 2 is refused: columns"))
      let users = try JSONObject(parsing: Array(try await stage.exportUsers("out.json").utf8)).objects(
        "users")
      #expect(users.map { $0.text("displayName") } == ["Smith, Joe", #"Bob "B" Smith"#])
      #expect(users[0].objects("providerUserInfo").map { $0.text("rawId") } == ["g-1"])
      #expect(users[1].objects("providerUserInfo").map { $0.text("rawId") } == ["001.bob"])
      #expect(users[1].text("customAttributes") == #"{"a":"x\"y"}"#)
      #expect(users[1].flag("disabled") == true)
    }
  }

  @Test func `the pages of accounts-batchGet are an export as well`() async throws {
    try await withStage { stage in
      let service = try await stage.start(Administrator.settings)
      _ = try await service.signIn(Mint.credential { $0.subject = "001.ada" })
      let page = try await Administrator(service: service).get("accounts:batchGet")
      try await withStage { other in
        let path = try await other.prepare(String(decoding: page.body, as: UTF8.self))
        let finished = try await other.importUsers(path)
        #expect(finished.status == 0, "\(finished.errors)")
        #expect(try finished.json.integer("imported") == 1)
        #expect(try await other.sql("SELECT subject FROM identities") == "001.ada")
      }
    }
  }

  @Test func `a file that is there is not overwritten, and only its owner may read a new one`() async throws {
    try await withStage { stage in
      let path = try await stage.prepare("{}", name: "out.json")
      let refused = try await stage.command("export-firebase", path)
      #expect(refused.status == 69)
      #expect(try String(contentsOfFile: path, encoding: .utf8) == "{}")
      let empty = try await stage.exportUsers("empty.json")
      #expect(try JSONObject(parsing: Array(empty.utf8)).array("users")?.isEmpty == true)
      let attributes = try FileManager.default.attributesOfItem(atPath: stage.folder + "/empty.json")
      #expect(attributes[.posixPermissions] as? Int == 0o600)
      let output = try await stage.command("export-firebase", "-")
      #expect(output.output == empty)
    }
  }
}
