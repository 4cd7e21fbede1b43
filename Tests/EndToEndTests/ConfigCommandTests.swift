import Foundation
import Testing
import Wire

/// `config check` and `config print`, and the settings file.
@Suite(.timeLimit(.minutes(10)))
struct ConfigCommandTests {
  @Test func `right settings are right`() async throws {
    try await withStage { stage in
      let checked = try await stage.command("config", "check")
      #expect(checked.status == 0)
      #expect(checked.output == "the configuration is right\n")
      let json = try await stage.command("config", "check", "--json").json
      #expect(json.flag("valid") == true)
      #expect(json.objects("faults").isEmpty)
      #expect(json.texts("warnings").contains { $0.contains(Client.web) })
    }
  }

  @Test func `all faults are told together, by the start as well`() async throws {
    let wrong = [
      "BRAMLEY_LISTEN": "nowhere", "BRAMLEY_APPLE_CLIENT_IDS": "", "BRAMLEY_SESSION_ALG": "HS256",
      "BRAMLEY_SESSION_TTL": "5", "BRAMLEY_CLOCK_LEEWAY": "301", "BRAMLEY_DATABASE_URL": "mysql:x",
      "BRAMLEY_APPLE_BASE_URL": "http://apple.example", "BRAMLEY_MASTER_KEY": "c2hvcnQ=",
      "BRAMLEY_LOG_LEVEL": "loud",
      "BRAMLEY_THREADS": "0", "BRAMLEY_ALLOWED_ORIGINS": "app.example.com", "BRAMLEY_ISSUER": "nobody",
      "BRAMLEY_PROJECT_ID": "a b", "BRAMLEY_LISTNE": "127.0.0.1:1", "BRAMLEY_API_KEYS_FILE": "/nonexistent",
      "BRAMLEY_LISTEN_FILE": "/etc/hostname", "BRAMLEY_ADMIN_TOKEN": "c2hvcnQ=", "BRAMLEY_DEV_MODE": "yes",
      "BRAMLEY_ACCOUNT_LINKING": "always", "BRAMLEY_ANONYMOUS": "1", "BRAMLEY_CUSTOM_TOKEN_KEYS": "no PEM",
    ]
    try await withStage { stage in
      for arguments in [["config", "check"], ["serve"]] {
        let finished = try await run(
          Program.bramley, arguments, environment: stage.settings.merging(wrong) { $1 }, folder: stage.folder)
        #expect(finished.status == 78)
        for name in wrong.keys {
          let variable = name == "BRAMLEY_API_KEYS_FILE" ? "BRAMLEY_API_KEYS" : name
          #expect(finished.errors.contains(variable), "\(name) by \(arguments)")
        }
        #expect(finished.errors.split(separator: "\n").allSatisfy { $0.hasPrefix("bramley: ") })
        #expect(!finished.errors.contains("c2hvcnQ="))
      }
      let json = try await stage.command("config", "check", "--json", settings: wrong)
      #expect(json.status == 78)
      #expect(try json.json.flag("valid") == false)
      #expect(try json.json.objects("faults").count >= wrong.count)
    }
  }

  @Test(arguments: [("postgres://h/x?foo=bar", "sslmode"), ("postgres://", "must name a database")])
  func `a URL that libpq would refuse, or complete, is refused before the start`(
    _ url: String, _ words: String
  ) async throws {
    try await withStage { stage in
      let key = "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0ISE="
      let settings = ["BRAMLEY_DATABASE_URL": url, "BRAMLEY_MASTER_KEY": key]
      for finished in [
        try await stage.command("config", "check", settings: settings),
        try await stage.command("serve", settings: settings),
      ] {
        #expect(finished.status == 78)
        #expect(finished.errors.contains(words), "\(finished.errors)")
      }
    }
  }

  @Test func `an address of every interface needs a public URL`() async throws {
    try await withStage { stage in
      for listen in ["0.0.0.0:0", "[::]:0"] {
        #expect(try await stage.command("config", "check", settings: ["BRAMLEY_LISTEN": listen]).status == 78)
        let named = ["BRAMLEY_LISTEN": listen, "BRAMLEY_PUBLIC_URL": "https://auth.example.com"]
        #expect(try await stage.command("config", "check", settings: named).status == 0)
        let service = try await stage.start(named)
        #expect(try await service.get("/livez").status == 200)
        try await service.stop()
      }
    }
  }

  @Test func `print hides secrets and passwords, and says where a value is from`() async throws {
    let settings = [
      "BRAMLEY_MASTER_KEY": "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0ISE=", "BRAMLEY_API_KEYS": "hidden-key",
      "BRAMLEY_ADMIN_TOKEN": "ada=hidden-key-of-ada",
      "BRAMLEY_DATABASE_URL": "postgres://user:pa@ss:word@db.example/bramley",
    ]
    try await withStage { stage in
      let text = try await stage.command("config", "print", settings: settings)
      let json = try await stage.command("config", "print", "--json", settings: settings)
      #expect(text.status == 0)
      #expect(json.status == 0)
      for secret in ["c2VjcmV0", "hidden-key", "pa@ss", "word"] {
        #expect(!text.output.contains(secret), "\(secret)")
        #expect(!json.output.contains(secret), "\(secret)")
      }
      let values = try json.json
      #expect(values.object("BRAMLEY_MASTER_KEY")?.text("value") == "[redacted]")
      #expect(
        values.object("BRAMLEY_DATABASE_URL")?.text("value")
          == "postgres://user:[redacted]@db.example/bramley")
      #expect(values.object("BRAMLEY_API_KEYS")?.text("source") == "BRAMLEY_API_KEYS")
      #expect(values.object("BRAMLEY_SESSION_TTL")?.text("value") == "3600")
      #expect(values.object("BRAMLEY_SESSION_TTL")?.text("source") == "default")
    }
  }

  @Test func `a settings file is read, and the environment wins`() async throws {
    try await withStage { stage in
      let file = try stage.write(
        """
        # Nested keys are joined by an underscore.
        project_id: from-file
        session:
          alg: RS256
          ttl: 1200
        apple:
          client_ids:
            - com.example.app
            - com.example.web:nonce=raw
        """, to: "bramley.yaml")
      var environment = Program.environment.merging(stage.settings) { $1 }
      environment["BRAMLEY_APPLE_CLIENT_IDS"] = nil
      environment["BRAMLEY_PROJECT_ID"] = "from-environment"
      let checked = try await run(
        Program.bramley, ["config", "check", "--config", file], environment: environment, folder: stage.folder
      )
      #expect(checked.status == 0, "\(checked.errors)")
      let printed = try await run(
        Program.bramley, ["config", "print", "--json", "--config=\(file)"], environment: environment,
        folder: stage.folder
      ).json
      #expect(printed.object("BRAMLEY_PROJECT_ID")?.text("value") == "from-environment")
      #expect(printed.object("BRAMLEY_SESSION_ALG")?.text("value") == "RS256")
      #expect(printed.object("BRAMLEY_SESSION_ALG")?.text("source")?.contains("bramley.yaml") == true)
    }
  }

  @Test(arguments: [
    "listne: x", "project_id: [a", "project_id: a\nproject_id: b", "- list", "session: {ttl: 5}",
  ])
  func `a faulty settings file is refused`(_ text: String) async throws {
    try await withStage { stage in
      let file = try stage.write(text, to: "bramley.yaml")
      let checked = try await stage.command("config", "check", "--config", file)
      #expect(checked.status == 78)
      #expect(try await stage.command("config", "check", "--config", file + ".gone").status == 78)
    }
  }
}
