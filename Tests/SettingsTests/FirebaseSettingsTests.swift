import Domain
import FirebaseIdentity
import Settings
import Testing

@Suite struct FirebaseSettingsTests {
  private func read(_ changes: [String: String]) throws(SettingsFaults) -> Settings {
    try readSettings(
      environment: ["BRAMLEY_APPLE_CLIENT_IDS": "com.example.app"].merging(changes) { $1 }, file: nil,
      cores: 2, contents: { _ in nil })
  }

  private func faulty(_ changes: [String: String]) -> [String] {
    do throws(SettingsFaults) {
      _ = try read(changes)
      return []
    } catch {
      return error.faults.map(\.setting)
    }
  }

  private let project = "BRAMLEY_FIREBASE_PROJECT_ID"
  private let url = "BRAMLEY_FIREBASE_KEYS_URL"

  @Test func `nobody comes over unless a project is named`() throws {
    #expect(try read([:]).firebase == nil)
    let firebase = try #require(try read([project: "orchard-1"]).firebase)
    #expect(firebase.rules == FirebaseTokenRules(project: "orchard-1", leeway: 60))
    #expect(
      firebase.keysURL
        == "https://www.googleapis.com/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com")
    #expect(try read([project: "a", "BRAMLEY_CLOCK_LEEWAY": "5"]).firebase?.rules.leeway == 5)
    #expect(faulty([url: "https://example.com/keys"]) == [url])
  }

  @Test(arguments: [
    ("https://example.com/keys", true), ("http://127.0.0.1:9000/keys", true),
    ("http://example.com/keys", false),
    ("ftp://example.com", false), ("https://example.com/#keys", false), ("keys", false),
  ])
  func `keys come by https, or from this machine`(_ text: String, _ isRight: Bool) {
    #expect(faulty([project: "orchard", url: text]) == (isRight ? [] : [url]))
  }

  @Test(arguments: [
    ("example.com:orchard", true), ("Orchard", false), ("or/chard", false), (" ", false),
    (String(repeating: "a", count: 65), false),
  ])
  func `a project has an id of Google's alphabet`(_ text: String, _ isRight: Bool) {
    #expect(faulty([project: text]) == (isRight ? [] : [project]))
  }

  @Test func `a session that is handed over has room between the recent login and its end`() {
    let short = ["BRAMLEY_SESSION_MAX_TTL": "600", project: "orchard"]
    #expect(faulty(short) == [project])
    #expect(faulty(short.merging(["BRAMLEY_RECENT_LOGIN_WINDOW": "299"]) { $1 }) == [])
    #expect(faulty(["BRAMLEY_SESSION_MAX_TTL": "600"]) == [])
  }
}
