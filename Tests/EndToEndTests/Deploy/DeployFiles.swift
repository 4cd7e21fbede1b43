import Foundation
import TestProcesses
import Testing
import Wire

/// The files of `deploy/`, and the programs that say whether they are right.
enum DeployFiles {
  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().path
  static let folder = root + "/deploy"

  /// Whoever ran `deploy/test.sh` has every program that is asked here; then a missing one is a failure.
  static var areCheckable: Bool { Program.clientsPython != nil }

  static func text(_ path: String) throws -> String {
    try String(contentsOfFile: "\(folder)/\(path)", encoding: .utf8)
  }

  /// Every file below the folder, from there.
  static func all() throws -> [String] {
    let names = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
    return names.filter { name in
      var isFolder: ObjCBool = false
      return FileManager.default.fileExists(atPath: "\(folder)/\(name)", isDirectory: &isFolder)
        && !isFolder.boolValue && !name.hasPrefix("docker/secrets/")
    }.sorted()
  }

  /// The words of a text that begin so and go on with capitals, digits and `_`, or with small letters.
  static func words(_ prefix: String, in text: String) -> Set<String> {
    let words = text.split { !($0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_")) }.map(String.init)
    return Set(words.filter { $0.hasPrefix(prefix) && $0 != prefix })
  }

  /// A program of the packages that `deploy/test.sh` puts beside the interpreter, run to its end.
  static func client(_ name: String, _ arguments: [String]) async throws -> Finished {
    let python = try #require(Program.clientsPython)
    let folder = URL(fileURLWithPath: python).deletingLastPathComponent().path
    return try await run("\(folder)/\(name)", arguments, folder: DeployFiles.folder)
  }

  /// The documents of YAML files.
  static func documents(_ paths: String...) async throws -> [JSONObject] {
    let script = root + "/Tests/Clients/yaml_as_json.py"
    let finished = try await client("python3", [script] + paths.map { "\(folder)/\($0)" })
    try #require(finished.status == 0, "\(finished.errors)")
    return try finished.json.objects("documents")
  }
}

extension JSONObject {
  /// All members that are text.
  var plainTexts: [String: String] {
    var texts: [String: String] = [:]
    for name in names { texts[name] = text(name) }
    return texts
  }
}

extension Stage {
  /// Makes the secrets that the files of `deploy/` name.
  ///
  /// - Returns: Their folder.
  func makeSecrets() async throws -> String {
    let place = folder + "/secrets"
    let made = try await run("/bin/bash", [DeployFiles.folder + "/secrets.sh", place])
    try #require(made.status == 0, "\(made.errors)")
    return place
  }

  /// Has the program judge an environment whose secrets lie in the folder of ``makeSecrets()`` here.
  ///
  /// - Parameter mounted: Where the secrets lie there.
  func judge(
    _ environment: [String: String], secretsMountedAt mounted: String, arguments: [String] = []
  ) async throws -> Finished {
    let secrets = folder + "/secrets"
    // Which database is behind the address matters to nobody here.
    _ = try write("sqlite:\(database)\n", to: "secrets/database-url")
    return try await run(
      Program.bramley, ["config", "check"] + arguments,
      environment: environment.mapValues { $0.replacing(mounted, with: secrets) }, folder: folder)
  }
}
