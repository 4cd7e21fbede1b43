import AppleIdentity
import Crypto
import Domain
import Foundation
import Settings
import Testing

private let pem: String = {
  let key = try? PrivateKey.generate(.es256).pkcs8().reveal()
  let text = Data(key ?? []).base64EncodedString(options: .lineLength64Characters)
  return "-----BEGIN PRIVATE KEY-----\n\(text)\n-----END PRIVATE KEY-----"
}()

@Suite struct AppleKeySettingsTests {
  private func read(
    _ changes: [String: String], contents: (String) -> [UInt8]? = { _ in nil }
  ) throws(SettingsFaults) -> Settings {
    try readSettings(
      environment: ["BRAMLEY_APPLE_CLIENT_IDS": "com.example.app"].merging(changes) { $1 }, file: nil,
      cores: 2,
      contents: contents)
  }

  private func faulty(_ changes: [String: String]) -> Set<String> {
    do throws(SettingsFaults) {
      _ = try read(changes)
      return []
    } catch {
      return Set(error.faults.map(\.setting))
    }
  }

  private static let whole = [
    "BRAMLEY_APPLE_TEAM_ID": "TEAM123456", "BRAMLEY_APPLE_KEY_ID": "KEY1234567",
    "BRAMLEY_APPLE_PRIVATE_KEY": pem,
  ]

  @Test func `without a key there is none, and sessions end with the consent`() throws {
    let settings = try read([:])
    #expect(settings.appleKey == nil)
    #expect(settings.oldAppleKey == nil)
    #expect(settings.revalidationEndsSessions)
    #expect(try read(["BRAMLEY_REVALIDATE_ENDS_SESSIONS": "false"]).revalidationEndsSessions == false)
    #expect(faulty(["BRAMLEY_REVALIDATE_ENDS_SESSIONS": "no"]) == ["BRAMLEY_REVALIDATE_ENDS_SESSIONS"])
  }

  @Test func `a key comes as text, with escaped line feeds, or from a file`() throws {
    let key = try #require(try read(Self.whole).appleKey)
    #expect(key.team == "TEAM123456")
    #expect(key.keyID.text == "KEY1234567")
    var escaped = Self.whole
    escaped["BRAMLEY_APPLE_PRIVATE_KEY"] = pem.replacingOccurrences(of: "\n", with: "\\n")
    #expect(try read(escaped).appleKey != nil)
    var filed = Self.whole
    filed["BRAMLEY_APPLE_PRIVATE_KEY"] = nil
    filed["BRAMLEY_APPLE_PRIVATE_KEY_FILE"] = "/run/key.p8"
    let fromFile = try read(filed, contents: { $0 == "/run/key.p8" ? Array((pem + "\n").utf8) : nil })
    #expect(fromFile.appleKey?.keyID == key.keyID)
    let old = Dictionary(
      uniqueKeysWithValues: Self.whole.map { ($0.key.replacing("APPLE_", with: "APPLE_OLD_"), $0.value) })
    #expect(try read(old).oldAppleKey?.keyID == key.keyID)
    #expect(try read(old).appleKey == nil)
  }

  @Test func `all three are there or none, and every fault is told together`() {
    for name in Self.whole.keys {
      let others = Set(Self.whole.keys).subtracting([name])
      #expect(faulty(Self.whole.filter { $0.key != name }) == [name])
      #expect(faulty(Self.whole.filter { $0.key == name }) == others)
      #expect(faulty(Self.whole.merging([name: ""]) { $1 }) == [name])
    }
    let bad = [
      "BRAMLEY_APPLE_TEAM_ID": "TEAM123456", "BRAMLEY_APPLE_KEY_ID": "KEY1234567",
      "BRAMLEY_APPLE_PRIVATE_KEY": "nonsense", "BRAMLEY_APPLE_OLD_TEAM_ID": "TEAM123456",
      "BRAMLEY_SESSION_TTL": "1",
    ]
    #expect(
      faulty(bad) == [
        "BRAMLEY_APPLE_PRIVATE_KEY", "BRAMLEY_APPLE_OLD_KEY_ID", "BRAMLEY_APPLE_OLD_PRIVATE_KEY",
        "BRAMLEY_SESSION_TTL",
      ])
    #expect(
      faulty(Self.whole.merging(["BRAMLEY_APPLE_TEAM_ID": "TEAM 12345"]) { $1 }) == ["BRAMLEY_APPLE_TEAM_ID"])
    #expect(faulty(Self.whole.merging(["BRAMLEY_APPLE_TEAM_ID": "x"]) { $1 }) == ["BRAMLEY_APPLE_TEAM_ID"])
    var filed = Self.whole
    filed["BRAMLEY_APPLE_PRIVATE_KEY"] = nil
    filed["BRAMLEY_APPLE_PRIVATE_KEY_FILE"] = "/run/none.p8"
    #expect(faulty(filed) == ["BRAMLEY_APPLE_PRIVATE_KEY_FILE"])
  }

  @Test func `the key is never printed, and may change while the service runs`() {
    let printed = printedSettings(environment: Self.whole, file: nil, contents: { _ in nil })
    let key = printed.first { $0.variable == "BRAMLEY_APPLE_PRIVATE_KEY" }
    #expect(key?.text == "[redacted]")
    #expect(printed.first { $0.variable == "BRAMLEY_APPLE_KEY_ID" }?.text == "KEY1234567")
    for name in ["team_id", "key_id", "private_key", "old_team_id", "old_key_id", "old_private_key"] {
      #expect(allSettings.first { $0.name == "apple_" + name }?.isReloadable == true)
    }
  }
}
