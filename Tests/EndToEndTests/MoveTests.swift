import Foundation
import TestProcesses
import Testing
import Wire

/// `export` and `import`.
@Suite(.timeLimit(.minutes(10)))
struct MoveTests {
  @Test func `whoever was signed in stays so in the database that an export went into`() async throws {
    try await withStage { stage in
      let service = try await stage.start()
      let subject = Mint.subject()
      let session = try await service.signIn(
        Mint.credential { $0.subject = subject }, ["fullName": #"{"givenName":"Zoë","familyName":"日本\"\\"}"#])
      let others = try await service.signIn(people: 12)
      let ended = try await service.signIn(Mint.credential())
      _ = try await service.send(.post("/v1/signOut", json: #"{"refreshToken":"\#(ended.refreshToken)"}"#))
      let keySet = try await service.get("/.well-known/jwks.json").body
      try await service.stop()
      let exported = try await stage.command("export", stage.archive, "--json")
      #expect(exported.status == 0, "\(exported.errors)")
      #expect(try exported.json.object("tables")?.integer("accounts") == 14)
      let mode = try FileManager.default.attributesOfItem(atPath: stage.archive)[.posixPermissions]
      #expect(mode as? Int == 0o600)

      let imported = try await stage.takeIn(stage.archive)
      #expect(imported.status == 0, "\(imported.errors)")
      #expect(try imported.json.integer("rows") == exported.json.integer("rows"))
      let after = try await stage.start(stage.elsewhere)
      #expect(try await after.get("/.well-known/jwks.json").body == keySet)
      for one in others + [session] { _ = try await after.refresh(one.refreshToken) }
      try expect(
        await after.tryRefresh(ended.refreshToken), is: Refusal(400, "TOKEN_EXPIRED", "session_ended"))
      let again = try await after.trySignIn(Mint.credential { $0.subject = subject })
      #expect(try SignedIn(again).localID == session.localID)
      #expect(try again.json.text("displayName") == "Zoë 日本\"\\")
      #expect(try await stage.command("audit", "verify", settings: stage.elsewhere).status == 0)
    }
  }

  @Test func `from SQLite to PostgreSQL and back nobody is logged out, and work goes on at each place`()
    async throws
  {
    let server = try await PostgresServer()
    try await withStage { stage in
      let first = try await stage.start()
      let session = try await first.signIn(Mint.credential())
      var tokens = try await first.signIn(people: 5).map(\.refreshToken)
      try await first.stop()
      #expect(try await stage.command("export", stage.archive).status == 0)

      let onServer = stage.key.merging([
        "BRAMLEY_DATABASE_URL": server.url(), "BRAMLEY_PUBLIC_URL": "https://auth.example.com",
      ]) { $1 }
      let taken = try await stage.command("import", stage.archive, settings: onServer)
      #expect(taken.status == 0, "\(taken.errors)")
      let second = try await stage.start(onServer)
      for (index, token) in tokens.enumerated() { tokens[index] = try await second.refresh(token) }
      tokens += try await second.signIn(people: 3).map(\.refreshToken)
      let ended = try await second.send(
        .post("/v1/signOut", json: #"{"refreshToken":"\#(session.refreshToken)"}"#))
      #expect(ended.status == 200)
      try await second.stop()
      let back = stage.folder + "/back.jsonl"
      #expect(try await stage.command("export", back, settings: onServer).status == 0)

      #expect(try await stage.takeIn(back).status == 0)
      let third = try await stage.start(stage.elsewhere)
      for token in tokens { _ = try await third.refresh(token) }
      #expect(try await third.signIn(Mint.credential()).isNewUser)
      try expect(
        await third.tryRefresh(session.refreshToken), is: Refusal(400, "TOKEN_EXPIRED", "session_ended"))
      #expect(try await stage.command("audit", "verify", settings: stage.elsewhere).status == 0)
      let backup = try await stage.command("backup", stage.folder + "/b.db", settings: onServer)
      #expect(backup.status == 78)
    }
    try await server.stop()
  }

  @Test func `an export of what was imported is the same again`() async throws {
    try await withStage { stage in
      let service = try await stage.start()
      _ = try await service.signIn(people: 700)
      try await service.stop()
      #expect(try await stage.command("export", stage.archive).status == 0)
      #expect(try await stage.takeIn(stage.archive).status == 0)
      let second = stage.folder + "/second.jsonl"
      #expect(try await stage.command("export", second, settings: stage.elsewhere).status == 0)
      let (one, two) = (try rows(of: stage.archive), try rows(of: second))
      #expect(one.count > 2100)
      // The import leaves a line in the audit.
      #expect(two.count == one.count + 1)
      #expect(Set(one).isSubset(of: Set(two)))
    }
  }

  @Test func `what an import needs of master keys it has or is refused, and secrets go under the first`()
    async throws
  {
    try await withStage { stage in
      let service = try await stage.start()
      let session = try await service.signIn(Mint.credential())
      try await service.stop()
      #expect(try await stage.command("export", stage.archive).status == 0)
      let old = try String(contentsOfFile: stage.masterKeyFile, encoding: .utf8)
        .trimmingCharacters(in: .whitespacesAndNewlines)
      let new = Data(repeating: 9, count: 32).base64EncodedString()
      let refused = try await stage.takeIn(stage.archive, ["BRAMLEY_MASTER_KEY": new])
      #expect(refused.status == 78)
      #expect(refused.errors.contains("BRAMLEY_MASTER_KEY"))
      let keys = ["BRAMLEY_MASTER_KEY": "\(new),\(old)"]
      #expect(try await stage.takeIn(stage.archive, keys).status == 0)
      let listed = try await stage.command(
        "keys", "list", "--json", settings: stage.elsewhere(with: keys)
      ).json
      let sealed = Set(listed.objects("signingKeys").compactMap { $0.text("masterKey") })
      let living = try #require(listed.object("liveSessionsByMasterKey")).names
      #expect(sealed.count == 1 && living.count == 1 && sealed != Set(living))
      let after = try await stage.start(stage.elsewhere(with: keys))
      _ = try await after.refresh(session.refreshToken)
    }
  }

  @Test func `what breaks off goes on with the same file, and no service works on it before`() async throws {
    try await withStage { stage in
      let service = try await stage.start()
      let session = try await service.signIn(Mint.credential())
      _ = try await service.signIn(people: 40)
      try await service.stop()
      #expect(try await stage.command("export", stage.archive).status == 0)
      let whole = try String(contentsOfFile: stage.archive, encoding: .utf8)
      let half = try stage.write(String(whole.prefix(whole.count / 2)), to: "half.jsonl")
      // Wherever it was cut, also in the middle of its last line.
      for cut in [half, try stage.write(String(whole.dropLast(5)), to: "almost.jsonl")] {
        let refused = try await stage.takeIn(cut)
        #expect(refused.status == 1 && refused.errors.contains("breaks off after"), "\(refused.errors)")
      }
      let early = try stage.launch(stage.elsewhere)
      #expect(try await early.ended() == .exit(1))
      for command in [
        ["users", "list"], ["users", "disable", session.localID], ["keys", "rotate"], ["audit", "verify"],
        ["export", stage.folder + "/half-of-it.jsonl"], ["import-firebase", half],
      ] {
        let refused = try await stage.command(command, settings: stage.elsewhere)
        #expect(
          refused.status == 1 && refused.errors.contains("bramley import"), "\(command): \(refused.errors)")
      }
      let doctor = try await stage.command("doctor", settings: stage.elsewhere)
      #expect(doctor.output.contains("bramley import"))
      // Another export is none of its rest, be it one of the same database in the same second.
      let other = stage.folder + "/other.jsonl"
      #expect(try await stage.command("export", other).status == 0)
      #expect(try await stage.takeIn(other).errors.contains("its own file"))
      #expect(try await stage.takeIn(stage.archive).status == 0)
      #expect(try await stage.takeIn(stage.archive).status == 1)
      let after = try await stage.start(stage.elsewhere)
      _ = try await after.refresh(session.refreshToken)
      #expect(try await after.get("/v1/certs").status == 200)
    }
  }

  @Test func `what is no export is told by its line, and changes nothing that matters`() async throws {
    try await withStage { stage in
      let service = try await stage.start()
      _ = try await service.signIn(Mint.credential())
      try await service.stop()
      #expect(try await stage.command("export", stage.archive).status == 0)
      let lines = try String(contentsOfFile: stage.archive, encoding: .utf8).split(separator: "\n").map(
        String.init)
      func refusal(_ changed: [String]) async throws -> Finished {
        for name in ["", "-wal", "-shm"] {
          try? FileManager.default.removeItem(atPath: stage.folder + "/elsewhere.db" + name)
        }
        return try await stage.takeIn(
          stage.write(changed.joined(separator: "\n") + "\n", to: "changed.jsonl"))
      }
      #expect(try await refusal(["{}"]).errors.contains("line 1"))
      #expect(try await refusal(Array(lines.dropFirst())).errors.contains("line 1"))
      #expect(try await refusal([lines[0], "not json"] + lines[1...]).errors.contains("line 2"))
      #expect(try await refusal([lines[0], #"{"passwords":{"id":"x"}}"#]).errors.contains("line 2"))
      #expect(
        try await refusal([lines[0], #"{"accounts":{"number":1,"id":"x","shoeSize":44}}"#]).errors.contains(
          "line 2"))
      #expect(try await refusal([lines[0], #"{"accounts":{"number":"1"}}"#]).errors.contains("line 2"))
      #expect(try await refusal(lines + [lines[1]]).errors.contains("line \(lines.count + 1)"))
      let reversed = try await refusal(
        [lines[0]] + lines[1..<(lines.count - 1)].reversed() + [lines[lines.count - 1]])
      #expect(reversed.status == 1 && reversed.errors.contains("stand before"), "\(reversed.errors)")
      let flag = try #require(lines.firstIndex { $0.contains(#""is_disabled":0"#) })
      var changed = lines
      changed[flag] = lines[flag].replacing(#""is_disabled":0"#, with: #""is_disabled":1"#)
      #expect(try await refusal(changed).errors.contains("damaged or changed"))
      #expect(try await stage.command("users", "list", settings: stage.elsewhere).status == 1)
      #expect(
        try await refusal([lines[0].replacing("\"format\":", with: "\"format\":9")]).errors.contains("format")
      )
      #expect(try await refusal(lines.dropLast(2) + [lines[lines.count - 1]]).status == 1)
    }
  }

  @Test func `an export beside a service at work is refused at its end`() async throws {
    try await withStage { stage in
      let service = try await stage.start()
      _ = try await service.signIn(people: 600)
      let isDone = Watched(false)
      async let noise: Void = {
        while !isDone.read({ $0 }) { _ = try await service.signIn(Mint.credential()) }
      }()
      let exported = try await stage.command("export", stage.archive)
      isDone.update { $0 = true }
      try await noise
      #expect(exported.status == 1)
      #expect(exported.errors.contains("meanwhile"))
      #expect(!FileManager.default.fileExists(atPath: stage.archive))
    }
  }
}

/// The lines of an export but the first and the last.
private func rows(of path: String) throws -> [Substring] {
  let text = try String(contentsOfFile: path, encoding: .utf8)
  return Array(text.split(separator: "\n").dropFirst().dropLast())
}

extension Stage {
  fileprivate var archive: String { folder + "/archive.jsonl" }
  /// Settings with another database.
  fileprivate var elsewhere: [String: String] {
    key.merging(["BRAMLEY_DATABASE_URL": "sqlite:\(folder)/elsewhere.db"]) { $1 }
  }
  /// The master key of the first database.
  fileprivate var key: [String: String] { ["BRAMLEY_MASTER_KEY_FILE": masterKeyFile] }

  fileprivate func takeIn(_ path: String, _ changes: [String: String] = [:]) async throws -> Finished {
    try await command("import", path, "--json", settings: elsewhere(with: changes))
  }

  /// The same with other keys than the file's.
  fileprivate func elsewhere(with changes: [String: String]) -> [String: String] {
    var settings = elsewhere.merging(changes) { $1 }
    if changes["BRAMLEY_MASTER_KEY"] != nil { settings["BRAMLEY_MASTER_KEY_FILE"] = nil }
    return settings
  }
}
