import Foundation
import Testing
import Wire

/// What `deploy/` has for one machine: the unit, the package's settings, and every setting that any file there names.
@Suite(.timeLimit(.minutes(10)), .enabled(if: DeployFiles.areCheckable))
struct MachineFileTests {
  @Test func `every setting that is named anywhere is one`() async throws {
    try await withStage { stage in
      let known = Set(try await stage.command("config", "print", "--json").json.names)
      let files = try DeployFiles.all()
      #expect(files.count > 30)
      for file in files {
        // What is filled in after the underscore.
        let named = DeployFiles.words("BRAMLEY_", in: try DeployFiles.text(file))
        for name in named.subtracting(known) {
          let own = String(name.dropLast("_FILE".count))
          try #require(name.hasSuffix("_FILE") && known.contains(own), "\(name) in \(file)")
          let value = try stage.write("sqlite:x", to: "value")
          let judged = try await stage.command("config", "check", "--json", settings: [name: value])
          let faults = try judged.json.objects("faults").compactMap { $0.text("setting") }
          #expect(!faults.contains(name), "\(name) in \(file) may not be a file")
        }
      }
    }
  }

  @Test func `the unit is one that systemd takes without a word, with its secrets and without`() async throws
  {
    try await withStage { stage in
      // The program that it starts is not on this machine.
      let unit = try DeployFiles.text("systemd/bramley.service")
        .replacing("ExecStart=/usr/bin/bramley", with: "ExecStart=\(Program.bramley)")
      let file = try stage.write(unit, to: "bramley.service")
      func verify() async throws -> Finished {
        try await run("/usr/bin/systemd-analyze", ["verify", "--man=no", file])
      }
      let plain = try await verify()
      #expect(plain.status == 0 && plain.errors.isEmpty, "\(plain.errors)")
      let dropIns = stage.folder + "/bramley.service.d"
      try FileManager.default.createDirectory(atPath: dropIns, withIntermediateDirectories: true)
      let credentials = try DeployFiles.text("systemd/credentials.conf")
      _ = try stage.write(credentials, to: "bramley.service.d/credentials.conf")
      let full = try await verify()
      #expect(full.status == 0 && full.errors.isEmpty, "\(full.errors)")
      // A word that systemd does not know is passed over with a warning, which the look above would not survive.
      _ = try stage.write(unit + "\n[Service]\nRestrictEverything=yes\n", to: "bramley.service")
      #expect(try await verify().errors.contains("RestrictEverything"))
    }
  }

  @Test func `the unit lets the service do little`() async throws {
    let judged = try await run(
      "/usr/bin/systemd-analyze",
      [
        "security", "--offline=true", "--threshold=15", "--no-pager",
        DeployFiles.folder + "/systemd/bramley.service",
      ])
    #expect(judged.status == 0, "\(judged.output)")
  }

  @Test func `each secret of the unit is loaded from where it is made, and handed over by its name`() throws {
    let lines = try DeployFiles.text("systemd/credentials.conf").split(separator: "\n").filter {
      $0.contains("=")
    }
    .filter { !$0.hasPrefix("#") }
    let loaded = lines.filter { $0.hasPrefix("LoadCredential=") }.map {
      $0.dropFirst("LoadCredential=".count)
    }
    let handed = lines.filter { $0.hasPrefix("Environment=") }.compactMap { $0.split(separator: "/").last }
    #expect(loaded.map { $0.prefix { $0 != ":" } } == handed)
    #expect(loaded.count == 5)
    for line in loaded {
      let parts = line.split(separator: ":")
      #expect(parts.count == 2 && parts[1] == "/etc/bramley/secrets/\(parts[0])")
    }
  }

  @Test func `the package's settings lack nothing but the client ids`() async throws {
    try await withStage { stage in
      let text = try DeployFiles.text("debian/bramley.yaml")
      func check(_ text: String) async throws -> Finished {
        let file = try stage.write(text, to: "bramley.yaml")
        return try await run(
          Program.bramley, ["config", "check", "--json", "--config", file], folder: stage.folder)
      }
      let fresh = try await check(text)
      #expect(fresh.status == 78)
      let faults = try fresh.json.objects("faults").compactMap { $0.text("setting") }
      #expect(faults == ["BRAMLEY_APPLE_CLIENT_IDS"])
      let written = text.replacing("client_ids: []", with: "client_ids: [com.example.app]")
        .replacing("# team_id", with: "team_id").replacing("# key_id", with: "key_id")
      // The two ids and the key belong together, and the key is a secret.
      let half = try await check(written)
      #expect(half.status == 78)
      #expect(try half.json.objects("faults").allSatisfy { $0.text("setting")?.contains("APPLE") == true })
      #expect(
        try await check(text.replacing("client_ids: []", with: "client_ids: [com.example.app]")).status == 0)
    }
  }

  @Test func `lintian's overrides are told why`() throws {
    let lines = try DeployFiles.text("debian/lintian-overrides").split(separator: "\n")
    #expect(!lines.isEmpty)
    for (index, line) in lines.enumerated() where !line.hasPrefix("#") {
      #expect(index > 0 && lines[index - 1].hasPrefix("#"), "\(line)")
    }
  }
}
