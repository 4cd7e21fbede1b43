import Domain
import Settings
import Testing

@Suite struct WebhookSettingsTests {
  private func read(_ changes: [String: String]) throws(SettingsFaults) -> Settings {
    try readSettings(
      environment: ["BRAMLEY_APPLE_CLIENT_IDS": "com.example.app"].merging(changes) { $1 }, file: nil,
      cores: 2, contents: { $0 == "secret" ? Array("a-secret-of-a-file\n".utf8) : nil })
  }

  private func faulty(_ changes: [String: String]) -> [String] {
    do throws(SettingsFaults) {
      _ = try read(changes)
      return []
    } catch {
      return error.faults.map(\.setting)
    }
  }

  private let url = "BRAMLEY_WEBHOOK_URL"
  private let secret = "BRAMLEY_WEBHOOK_SECRET"

  @Test func `nobody is told unless both are set`() throws {
    #expect(try read([:]).webhook == nil)
    #expect(faulty([url: "https://example.com/hook"]) == [url])
    #expect(faulty([secret: "a-secret-of-some-length"]) == [secret])
    #expect(try read([url: "https://example.com/hook", secret: "a-secret-of-some-length"]).webhook != nil)
    #expect(
      try read([url: "https://example.com/hook", "BRAMLEY_WEBHOOK_SECRET_FILE": "secret"]).webhook != nil)
  }

  @Test(arguments: [
    ("https://example.com", true), ("https://example.com/hook/?a=b&c=d", true),
    ("https://[2001:db8::1]:8443/", true),
    ("http://127.0.0.1:9000/hook?x=1", true), ("http://localhost?x=1", true), ("http://[::1]/", true),
    ("http://example.com/hook", false), ("http://127.0.0.1.example.com/", false),
    ("ftp://example.com/", false),
    ("https://", false), ("https:///hook", false), ("https://user:word@example.com/", false),
    ("https://example.com/#part", false), ("https://example.com/a b", false),
    ("https://example.com\\@evil/", false),
    ("example.com/hook", false), ("http://localhost@example.com/", false), ("https://ex ample.com", false),
    ("https://" + String(repeating: "x", count: 2048), false),
  ])
  func `an address is https, or of this machine`(_ text: String, _ isGood: Bool) {
    #expect(faulty([url: text, secret: "a-secret-of-some-length"]) == (isGood ? [] : [url]))
  }

  @Test func `a secret has at least sixteen bytes`() {
    for text in ["too-short", "whsec_dG9vLXNob3J0", "sixteen letters and spaces"] {
      #expect(faulty([url: "https://example.com/hook", secret: text]) == [secret])
    }
  }

  @Test func `the policy is one of three words, and the first unless one is said`() throws {
    #expect(try read([:]).accountDeletedPolicy == .delete)
    for policy in AppleDeletionPolicy.allCases {
      #expect(try read(["BRAMLEY_ACCOUNT_DELETED_POLICY": policy.rawValue]).accountDeletedPolicy == policy)
    }
    #expect(faulty(["BRAMLEY_ACCOUNT_DELETED_POLICY": "ask"]) == ["BRAMLEY_ACCOUNT_DELETED_POLICY"])
  }

  @Test func `what a webhook's address carries in its query is not printed`() {
    let printed = printedSettings(
      environment: [url: "https://example.com/hook?token=geheim&flag&b=c"], file: nil, contents: { _ in nil })
    #expect(
      printed.first { $0.variable == url }?.text
        == "https://example.com/hook?token=[redacted]&flag=[redacted]&b=[redacted]")
  }

  @Test func `a secret in a file that cannot be read is one fault`() {
    #expect(
      faulty([url: "https://example.com/hook", "BRAMLEY_WEBHOOK_SECRET_FILE": "missing"]) == [
        "BRAMLEY_WEBHOOK_SECRET_FILE"
      ])
  }

  @Test func `a secret is not printed`() {
    let printed = printedSettings(
      environment: [secret: "a-secret-of-some-length"], file: nil, contents: { _ in nil })
    #expect(printed.first { $0.variable == secret }?.text == "[redacted]")
  }
}
