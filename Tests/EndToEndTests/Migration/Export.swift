import Foundation
import TestProcesses
import Testing
import Wire

/// What `firebase auth:export` writes, for tests.
struct Export {
  var users: [String]

  /// A user of an export.
  ///
  /// - Parameters:
  ///   - apple: The subject at Apple.
  ///   - members: Further members; their values are JSON.
  static func user(_ id: String, apple subject: String? = nil, _ members: [(String, String)] = []) -> String {
    var out = JSONWriter()
    out.member("localId", id)
    for (name, json) in members { out.member(name, json: Array(json.utf8)) }
    let provider = subject.map {
      #"{"providerId": "apple.com","rawId":"\#($0)","email":"\#(id)@example.com"}"#
    }
    out.member("lastSignedInAt", "1600000001234")
    out.member("createdAt", "1500000000000")
    out.member("providerUserInfo", json: Array("[\(provider ?? "")]".utf8))
    return String(decoding: out.finish(), as: UTF8.self)
  }

  /// So many people who signed in with Apple.
  static func people(_ count: Int) -> Export {
    Export(
      users: (0..<count).map { number in
        user("uid-\(number)", apple: "001234.\(number).0456", [("email", #""uid-\#(number)@example.com""#)])
      })
  }

  var text: String { "{\"users\": [\n" + users.joined(separator: ",\n") + "]}\n" }
}

extension Stage {
  /// Makes the database, and writes an export beside it.
  ///
  /// - Returns: The export's path.
  func prepare(_ export: String, name: String = "users.json") async throws -> String {
    let made = try await command("migrate")
    try #require(made.status == 0, "\(made.errors)")
    return try write(export, to: name)
  }

  func importUsers(_ path: String, _ further: String..., input: String = "") async throws -> Finished {
    try await importUsers(path, further, input: input)
  }

  func importUsers(_ path: String, _ further: [String], input: String = "") async throws -> Finished {
    try await run(
      Program.bramley, ["import-firebase", "--json"] + further + [path], environment: settings,
      folder: folder, input: input)
  }

  /// Begins an import.
  func beginImport(_ path: String) throws -> ChildProcess {
    keep(
      try ChildProcess(
        Program.bramley, ["import-firebase", "--json", path],
        environment: Program.environment.merging(settings) { $1 }, folder: folder))
  }

  func exportUsers(_ name: String) async throws -> String {
    let path = folder + "/" + name
    let finished = try await command("export-firebase", path)
    try #require(finished.status == 0, "\(finished.errors)")
    return try String(contentsOfFile: path, encoding: .utf8)
  }

  func accountCount() async throws -> Int { Int(try await sql("SELECT count(*) FROM accounts")) ?? -1 }
}
