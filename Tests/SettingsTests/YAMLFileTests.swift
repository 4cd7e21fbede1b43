import Domain
import Settings
import Testing

@Suite struct YAMLFileTests {
  @Test func `nested names are joined, lists become comma lists`() throws {
    let yaml = """
      # a comment
      apple:
        client_ids:
          - com.example.app
          - com.example.web:nonce=raw+challenge
        max_token_age: 1800
      session: {ttl: 700, idle_ttl: "800"}
      api_keys: [one, 'two']
      log_level: debug
      """
    let settings = try read(yaml: yaml, clients: nil)
    #expect(Set(settings.appleRules.clients.keys.map(\.text)) == ["com.example.app", "com.example.web"])
    #expect(settings.appleRules.maximumAge == 1800)
    #expect(settings.sessionTTL == 700)
    #expect(settings.sessionIdleTTL == 800)
    #expect(settings.apiKeys.map { $0.reveal() } == ["one", "two"])
    #expect(settings.logLevel == .debug)
  }

  @Test(arguments: ["", "\n", "# nothing\n", "---\n", "--- \n...\n"])
  func `an empty file sets nothing`(_ yaml: String) {
    #expect(faults(yaml: yaml) == [])
  }

  @Test(arguments: [
    "threads: 1\nthreads: 1\n", "session:\n  ttl: 700\nsession_ttl: 700\n", "session: {ttl: 700, ttl: 700}\n",
    "a: &x 1\n", "listen: *x\n", "threads: &x 1\nretry_window: *x\n", "<<: {threads: 1}\n---\n- x\n",
    "- a\n- b\n", "text\n",
    "? [a]\n: b\n", "api_keys: [[a]]\n", "api_keys: [{a: b}]\n", "threads: 1\n  retry_window: 2\n",
    "threads: [1\n", "\tthreads: 1\n",
    "threads: \"1\n", "{threads: 1", "%YAML 9.9\n---\nthreads: 1\n", "threads: 1\n---\nthreads: 1\n",
    "&a {threads: 1}\n",
    "api_keys: &a [x]\n", "%\n", "? a\n",
  ])
  func `what is not one plain list of settings is a fault of the file`(_ yaml: String) {
    let found = faults(yaml: yaml)
    #expect(found.contains { $0.hasPrefix("settings.yaml") })
  }

  @Test func `bad UTF-8 is a fault of the file`() {
    for bytes in [
      [0x61, 0x3A, 0x20, 0xFF], [0x61, 0x3A, 0x20, 0xC0, 0xAF], [0xED, 0xA0, 0x80, 0x3A, 0x31],
    ] as [[UInt8]] {
      let files = Files(contents: ["settings.yaml": bytes])
      #expect(throws: SettingsFaults.self) {
        try readSettings(
          environment: ["BRAMLEY_APPLE_CLIENT_IDS": "com.a"], file: "settings.yaml", cores: 1,
          contents: files.read)
      }
    }
  }

  @Test func `a file that is not there is a fault`() throws {
    let error = try #require(throws: SettingsFaults.self) {
      try readSettings(
        environment: ["BRAMLEY_APPLE_CLIENT_IDS": "com.a"], file: "none.yaml", cores: 1,
        contents: { _ in nil })
    }
    #expect(error.faults.map(\.setting) == ["none.yaml"])
  }

  @Test func `a fault names its line`() throws {
    let error = try #require(throws: SettingsFaults.self) { try read(yaml: "threads: 1\n\nthreads: 2\n") }
    #expect(error.faults.first?.problem.hasPrefix("line 3: ") == true)
  }

  @Test func `a value without text is the empty text`() {
    #expect(faults(yaml: "threads:\n") == ["BRAMLEY_THREADS"])
    #expect(faults(yaml: "threads: ''\n") == ["BRAMLEY_THREADS"])
    #expect(faults(yaml: "threads: null\n") == ["BRAMLEY_THREADS"])
  }

  @Test func `a file of ten thousand levels is a fault and no crash`() {
    #expect(!faults(yaml: String(repeating: "{a: ", count: 10_000)).isEmpty)
    #expect(!faults(yaml: String(repeating: "[", count: 10_000)).isEmpty)
  }

  @Test func `a NUL in a value reaches nothing`() {
    #expect(faults(yaml: "database_url: \"sqlite:a\\0b\"\n") == ["BRAMLEY_DATABASE_URL"])
    #expect(faults(yaml: "listen: \"a\\0b:80\"\n") == ["BRAMLEY_LISTEN"])
  }
}
