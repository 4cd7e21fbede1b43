import Foundation
import MockApple
import TestProcesses
import Testing
import Wire

extension Team {
  /// With which a service goes on once the app has gone to the stand-in's other team.
  static let settingsAfterMove = settings.merging([
    "BRAMLEY_APPLE_TEAM_ID": MockTeam.otherID, "BRAMLEY_APPLE_KEY_ID": MockTeam.otherKeyID.text,
    "BRAMLEY_APPLE_PRIVATE_KEY": MockTeam.otherPEM, "BRAMLEY_APPLE_OLD_TEAM_ID": MockTeam.id,
    "BRAMLEY_APPLE_OLD_KEY_ID": MockTeam.keyID.text, "BRAMLEY_APPLE_OLD_PRIVATE_KEY": MockTeam.pem,
  ]) { $1 }
}

extension AppleCallCounts {
  /// How many people were asked about, each counted once; `exported` or `imported`.
  func people(_ half: String) -> Int64 { json.integer(half) ?? 0 }
}

/// One half of the way to the other team.
enum Half: String, CaseIterable, Sendable, CustomTestStringConvertible {
  case export, `import`

  var testDescription: String { rawValue }
  var arguments: [String] {
    self == .export ? ["--target", MockTeam.otherID, "--json"] : ["--json"]
  }
  var settings: [String: String] { self == .export ? Team.settings : Team.settingsAfterMove }
  /// What the stand-in, and what the command, calls those that were moved.
  var people: String { self == .export ? "exported" : "imported" }
  var moved: String { self == .export ? "exported" : "rekeyed" }
}

extension Stage {
  /// Runs one half of a transfer to its end.
  func transfer(_ half: Half, _ further: [String] = []) async throws -> Finished {
    try await run(
      Program.bramley, ["apple", "transfer", half.rawValue] + half.arguments + further,
      environment: settings.merging(half.settings) { $1 }, folder: folder)
  }

  /// Runs an export to a team that is neither of the two.
  func exportOnwards(_ further: [String], settings team: [String: String]) async throws -> Finished {
    try await run(
      Program.bramley,
      ["apple", "transfer", "export", "--target", "MOCKTEAM03", "--json"] + further,
      environment: settings.merging(team) { $1 }, folder: folder)
  }

  /// Begins one half of a transfer.
  func beginTransfer(_ half: Half) throws -> ChildProcess {
    keep(
      try ChildProcess(
        Program.bramley, ["apple", "transfer", half.rawValue] + half.arguments,
        environment: Program.environment.merging(settings) { $1 }.merging(half.settings) { $1 },
        folder: folder))
  }

  func transferStatus(_ half: Half = .import) async throws -> JSONObject {
    let finished = try await run(
      Program.bramley, ["apple", "transfer", "status", "--json"],
      environment: settings.merging(half.settings) { $1 }, folder: folder)
    try #require(finished.status == 0, "\(finished.errors)")
    return try finished.json
  }

  /// Makes the database with so many people in it who have signed in with Apple before.
  func populate(_ count: Int) async throws {
    let made = try await command("migrate")
    try #require(made.status == 0, "\(made.errors)")
    try await sql(
      """
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
      INSERT INTO accounts (id, created_at, last_sign_in_at, is_disabled, is_email_verified, is_private_email)
      SELECT 'person' || i, 1, 1, 0, 0, 0 FROM n
      """)
    try await sql(
      "INSERT INTO identities (provider, subject, account) SELECT 'apple.com', '001234.' || id || '.0456', number FROM accounts"
    )
  }

  /// How many accounts, and how many identities, there are.
  func people() async throws -> [String] {
    [
      try await sql("SELECT count(*) FROM accounts"),
      try await sql("SELECT count(DISTINCT subject) FROM identities"),
    ]
  }
}

/// Gives a test a stand-in of its own and a folder.
func withMove(_ body: (MockAppleProgram, Stage) async throws -> Void) async throws {
  let apple = try await MockAppleProgram.start()
  try await withStage(appleURL: apple.baseURL) { stage in try await body(apple, stage) }
  try await apple.kill()
}
