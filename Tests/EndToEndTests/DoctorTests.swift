import Foundation
import Testing
import Wire

/// `bramley doctor`: what it finds, how bad that is, and its status.
@Suite(.timeLimit(.minutes(10)))
struct DoctorTests {
  private func findings(_ finished: Finished) throws -> [String: String] {
    let json = try finished.json
    #expect(json.flag("healthy") == (finished.status == 0))
    let pairs = json.objects("findings").map { ($0.text("subject") ?? "", $0.text("verdict") ?? "") }
    for finding in json.objects("findings") { #expect(finding.text("detail")?.isEmpty == false) }
    // The worst of a subject.
    return Dictionary(pairs) { [$0, $1].contains("failed") ? "failed" : $0 }
  }

  @Test func `all is well beside a running service`() async throws {
    try await withStage { stage in
      let service = try await stage.start()
      _ = try await service.signIn(Mint.credential())
      let found = try findings(await stage.command("doctor", "--json"))
      #expect(found["database"] == "ok")
      #expect(found["signing keys"] == "ok")
      #expect(found["Apple"] == "ok")
      #expect(found["clock"] == "ok")
      #expect(!found.values.contains("failed"))
      let text = try await stage.command("doctor")
      #expect(text.status == 0)
      #expect(text.output.contains("ok  database: takes writes"))
      try await service.stop()
    }
  }

  @Test func `Apple that is not there is a failure, and nonsense in place of keys too`() async throws {
    let apple = try await MockAppleProgram.start()
    try await apple.kill()
    try await withStage(appleURL: apple.baseURL) { stage in
      let finished = try await stage.command("doctor", "--json")
      #expect(finished.status == 1)
      #expect(try findings(finished)["Apple"] == "failed")
    }
    try await withMisbehavingApple("page") { _, stage in
      let finished = try await stage.command("doctor", "--json")
      #expect(finished.status == 1)
      #expect(try findings(finished)["Apple"] == "failed")
    }
  }

  @Test func `another master key, and none, are failures and change nothing`() async throws {
    try await withStage { stage in
      let service = try await stage.start()
      let token = try await service.signIn(Mint.credential()).refreshToken
      try await service.stop()
      let other = Data(repeating: 7, count: 32).base64EncodedString()
      let wrong = try await stage.command("doctor", "--json", settings: ["BRAMLEY_MASTER_KEY": other])
      #expect(wrong.status == 1)
      #expect(try findings(wrong)["master key"] == "failed")
      #expect(!wrong.output.contains(other))
      let kept = stage.masterKeyFile + ".kept"
      try FileManager.default.moveItem(atPath: stage.masterKeyFile, toPath: kept)
      let none = try await stage.command("doctor", "--json")
      #expect(none.status == 1)
      #expect(try findings(none)["master key"] == "failed")
      #expect(!FileManager.default.fileExists(atPath: stage.masterKeyFile))
      try FileManager.default.moveItem(atPath: kept, toPath: stage.masterKeyFile)
      _ = try await stage.start().refresh(token)
    }
  }

  @Test func `a database that is not there yet is a warning, and is not made`() async throws {
    try await withStage { stage in
      let finished = try await stage.command("doctor", "--json")
      #expect(finished.status == 0)
      #expect(try findings(finished)["database"] == "warning")
      #expect(!FileManager.default.fileExists(atPath: stage.database))
    }
  }

  @Test func `a file that is no database is a failure`() async throws {
    try await withStage { stage in
      _ = try stage.write(String(repeating: "no database at all ", count: 100), to: "bramley.db")
      let finished = try await stage.command("doctor", "--json")
      #expect(finished.status == 1)
      #expect(try findings(finished)["database"] == "failed")
    }
  }

  @Test
  func `a clock that is far off is a failure`() async throws {
    try await withStage { stage in
      let finished = try await stage.command(
        "doctor", "--json",
        settings: try ClockShift.environment(900))
      #expect(finished.status == 1)
      #expect(try findings(finished)["clock"] == "failed")
    }
  }

  @Test func `wrong settings and wrong usage are told as everywhere`() async throws {
    try await withStage { stage in
      let wrong = try await stage.command("doctor", settings: ["BRAMLEY_THREADS": "none"])
      #expect(wrong.status == 78)
      #expect(try await stage.command("doctor", "now").status == 64)
    }
  }
}
