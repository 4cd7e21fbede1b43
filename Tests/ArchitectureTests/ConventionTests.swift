import Foundation
import TestProcesses
import Testing

private func matches(_ pattern: String, in text: String) -> [String] {
  guard let expression = try? NSRegularExpression(pattern: pattern, options: [.anchorsMatchLines]) else {
    return ["?"]
  }
  return expression.matches(in: text, range: NSRange(text.startIndex..., in: text)).compactMap { match in
    Range(match.range, in: text).map { String(text[$0]) }
  }
}

@Suite struct ConventionTests {
  @Test(arguments: SourceTree.sources)
  func `nothing is forced, and nothing is put off`(_ file: SourceFile) {
    #expect(matches(#"\btry!|\bas!|\bfatalError\b"#, in: file.code) == [])
    #expect(matches(#"\b(TODO|FIXME|XXX|HACK)\b"#, in: file.text) == [])
  }

  /// Modules that stand at the edge of what the compiler can check.
  private static let edges: Set = [
    "Threads", "Wire", "Crypto", "Outbound", "HTTPServer", "PostgresStorage", "SQLiteStorage", "Settings",
    // It has to do without `Mutex`, which older systems of Apple's have not.
    "BramleyClient",
  ]

  @Test(arguments: SourceTree.sources)
  func `what the compiler cannot check is at the edge, with its reason on the line above`(_ file: SourceFile)
  {
    let lines = file.lines
    let pattern = #"@unchecked Sendable|nonisolated\(unsafe\)"#
    for (index, line) in file.code.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
    where line.contains("@unchecked Sendable") || line.contains("nonisolated(unsafe)") {
      #expect(Self.edges.contains(file.module), "\(file.path):\(index + 1)")
      // One reason serves a row of such lines.
      var above = index - 1
      while above > 0, !matches(pattern, in: String(lines[above])).isEmpty { above -= 1 }
      #expect(
        lines[above].drop { $0 == " " }.hasPrefix("//"), "\(file.path):\(index + 1) has no reason above it")
    }
  }

  @Test(arguments: SourceTree.sources)
  func `SQL stands with the statements of its engine and in migrations`(_ file: SourceFile) {
    guard
      !file.path.hasPrefix("Sources/SQLLedger/Statements"),
      !file.path.hasPrefix("Sources/PostgresStorage/Statements"),
      !file.path.hasPrefix("Sources/SQLiteStorage/Statements"),
      file.path != "Sources/SQLiteStorage/Migrations.swift"
    else { return }
    let withoutComments = file.lines.filter { !$0.drop { $0 == " " }.hasPrefix("//") }.joined(separator: "\n")
    let verbs =
      #"\b(SELECT\s|INSERT (OR \w+ )?INTO|UPDATE \w+ SET|DELETE FROM|REPLACE INTO|(CREATE|DROP|ALTER) (TABLE|INDEX|UNIQUE|VIEW))"#
    #expect(matches(verbs, in: withoutComments) == [])
  }

  @Test(arguments: SourceTree.sources)
  func `names say what a thing is, not what part it plays`(_ file: SourceFile) {
    let banned: Set = [
      "Manager", "Helper", "Helpers", "Util", "Utils", "Service", "Handler", "Impl", "Base", "Data", "Info",
      "Common",
      "Misc", "My",
    ]
    let types = matches(
      #"^\s*(\w+ |@\w+(\(\w+\))? )*(class|struct|enum|actor|protocol|typealias) \w+"#, in: file.code
    )
    .compactMap { $0.split(separator: " ").last.map { String($0) } }
    // A handler is what the API calls it; a service key is what the settings call the key of a back end; the app's kit
    // has the names that code for Firebase uses.
    let own =
      [
        "Sources/API/Routing/Route.swift": ["Handler"], "Sources/API/ServiceKeys.swift": ["Service"],
        "Sources/BramleyClient/Face/AuthDataResult.swift": ["Data", "Info"],
      ][file.path] ?? []
    for type in types {
      let words = Set(matches(#"[A-Z][a-z0-9]*"#, in: type)).subtracting(own)
      #expect(banned.intersection(words) == [], "\(file.path): \(type)")
    }
    let files: Set = [
      "Extensions.swift", "Utils.swift", "Constants.swift", "Types.swift", "Models.swift", "Common.swift",
      "Misc.swift",
      "Helpers.swift",
    ]
    #expect(!files.contains(file.name))
  }

  /// What a `package` protocol asks for is described there once, not at each conformance.
  private static let requirements: Set<String> = {
    let bodies = SourceTree.sources.flatMap { matches(#"^(package )?protocol [^{]*\{[^}]*\}"#, in: $0.code) }
    let names = bodies.flatMap { matches(#"func \w+"#, in: $0) } + ["func hash", "func encode"]
    return Set(names.map { String($0.dropFirst("func ".count)) })
  }()

  @Test(arguments: SourceTree.sources)
  func `what other modules use is described`(_ file: SourceFile) {
    let lines = file.lines
    let declaration =
      #"^\s*(@\w+ )*(package|public) (\w+ )*(class|struct|enum|actor|protocol|typealias|func|subscript) ?\S+"#
    for (index, line) in file.code.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
    where ["package ", "public "].contains(where: { line.contains($0) })
      && !matches(declaration, in: String(line)).isEmpty
    {
      let name = matches(#"func (\w+|[<=+-]+)"#, in: String(line)).first?.dropFirst("func ".count) ?? ""
      if Self.requirements.contains(String(name)) || ["==", "<"].contains(name) { continue }
      var above = index - 1
      while above > 0, ["@", "// "].contains(where: { lines[above].drop { $0 == " " }.hasPrefix($0) }) {
        above -= 1
      }
      #expect(
        above >= 0 && lines[above].drop { $0 == " " }.hasPrefix("///"), "\(file.path):\(index + 1) \(line)")
    }
  }

  @Test func `the top of the repository is tidy`() {
    let allowed: Set = [
      "Package.swift", "Sources", "Tests", "openapi.yaml", "deploy", "README.md", "LICENSE",
    ]
    let extra = SourceTree.entries(of: "").filter { !$0.hasPrefix(".") && !allowed.contains($0) }
    #expect(extra == [])
  }

  @Test func `the program is linked without Foundation`() async throws {
    let folder = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    let program = folder.appendingPathComponent("bramley")
    try #require(FileManager.default.isExecutableFile(atPath: program.path))
    let process = try ChildProcess("/usr/bin/ldd", [program.path], environment: [:], folder: "/")
    #expect(try await process.ended() == .exit(0))
    let text = String(decoding: process.state.read(\.output), as: UTF8.self)
    #expect(text.contains("libsqlite3"))
    #expect(text.contains("libpq"))
    #expect(!text.contains("Foundation"))
  }
}
