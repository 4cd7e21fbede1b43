import Testing

/// Who may import whom: modules of this package, C libraries, and what comes with the toolchain. Another entry here
/// is a decision about the architecture.
private let allowed: [String: Set<String>] = [
  "Threads": ["Glibc", "Synchronization"],
  "Wire": ["CJansson"],
  "Domain": ["Swift"],
  "Crypto": ["COpenSSL", "Domain", "Synchronization"],
  "Outbound": ["CCurl", "Domain", "Threads"],
  "HTTPServer": ["CMicroHTTPD", "Glibc", "Synchronization"],
  "Telemetry": ["Domain", "Glibc", "Synchronization", "Threads"],
  "JOSE": ["Crypto", "Domain", "Wire"],
  "Storage": ["Domain", "Synchronization"],
  "BramleyVerifier": ["Crypto", "Domain", "Glibc", "JOSE", "Outbound", "Synchronization", "Wire"],
  // The app's kit, for wherever an app runs; what is Apple's own is imported only where it can be.
  "BramleyClient": [
    "AuthenticationServices", "CryptoKit", "Foundation", "FoundationNetworking", "Security",
  ],
  "ProviderTokens": ["Crypto", "Domain", "JOSE", "Synchronization", "Wire"],
  "AppleIdentity": ["Crypto", "Domain", "JOSE", "ProviderTokens", "Wire"],
  "FirebaseIdentity": ["Crypto", "Domain", "ProviderTokens", "Wire"],
  "Sessions": ["Crypto", "Domain", "JOSE", "Storage", "Synchronization", "Wire"],
  "SQLLedger": ["Domain", "Storage"],
  "SQLiteStorage": ["CSQLite", "Domain", "Glibc", "SQLLedger", "Storage", "Synchronization", "Threads"],
  "PostgresStorage": [
    "CPostgres", "Domain", "Glibc", "SQLLedger", "Storage", "Synchronization", "Threads",
  ],
  "API": [
    "AppleIdentity", "Crypto", "Domain", "FirebaseIdentity", "HTTPServer", "ProviderTokens", "Sessions",
    "Storage",
    "Synchronization", "Telemetry", "Wire",
  ],
  "Settings": ["AppleIdentity", "CYAML", "Crypto", "Domain", "FirebaseIdentity", "Sessions", "Telemetry"],
  "Assembly": [
    "API", "AppleIdentity", "Crypto", "Domain", "Glibc", "HTTPServer", "JOSE", "Outbound",
    "PostgresStorage", "ProviderTokens", "SQLLedger", "SQLiteStorage", "Sessions",
    "Settings", "Storage", "Synchronization", "Telemetry", "Threads", "Wire",
  ],
  "MockApple": ["Crypto", "Domain", "Glibc", "HTTPServer", "JOSE", "Synchronization", "Threads", "Wire"],
  "LoadReport": ["Wire"],
  "Load": ["CEpoll", "Domain", "Glibc", "LoadReport", "Synchronization", "Threads"],
  "Bench": [
    "Crypto", "Domain", "Glibc", "HTTPServer", "Load", "LoadReport", "MockApple", "SQLiteStorage", "Storage",
    "Threads", "Wire",
  ],
  "bramley-bench": ["Bench", "Glibc", "Load", "LoadReport", "Threads", "Wire"],
  "bramley": [
    "API", "AppleIdentity", "Assembly", "Domain", "Glibc", "JOSE", "Sessions", "Settings",
    "Storage", "Synchronization", "Telemetry", "Wire",
  ],
  "bramley-mock-apple": ["Crypto", "Domain", "Glibc", "HTTPServer", "MockApple", "Outbound", "Wire"],
]

/// A line that imports something: the module and the words before `import`.
private func imports(of file: SourceFile) -> [(module: String, access: String)] {
  file.code.split(separator: "\n").compactMap { line in
    let words = line.split(separator: " ")
    guard let place = words.firstIndex(of: "import"), place + 1 < words.count,
      words[..<place].allSatisfy({
        $0.hasPrefix("@") || ["internal", "package", "public", "private"].contains($0)
      })
    else { return nil }
    return (String(words[place + 1].prefix { $0 != "." }), words[..<place].joined(separator: " "))
  }
}

private let present: [String: Set<String>] = Dictionary(
  SourceTree.sources.map { ($0.module, Set(imports(of: $0).map(\.module))) },
  uniquingKeysWith: { $0.union($1) })

@Suite struct ImportTests {
  @Test func `the sources are found`() {
    #expect(SourceTree.sources.count > 80)
    #expect(SourceTree.tests.count > 20)
  }

  @Test func `every module stands in the table, and every module of the table is there`() {
    #expect(Set(present.keys) == Set(allowed.keys))
  }

  @Test(arguments: SourceTree.sources)
  func `a file imports what its module may`(_ file: SourceFile) {
    let extra = Set(imports(of: file).map(\.module)).subtracting(allowed[file.module] ?? [])
    #expect(extra == [])
  }

  @Test func `the table has no entry that nobody uses`() {
    for (module, names) in allowed {
      #expect(names.subtracting(present[module] ?? []) == [], "\(module) imports less than it may")
    }
  }

  @Test func `Foundation is nowhere below the tests but in the app's kit`() {
    for (module, names) in present where module != "BramleyClient" {
      #expect(names.filter { $0.hasPrefix("Foundation") } == [], "\(module) imports Foundation")
    }
  }

  @Test func `the app's kit and the service know nothing of each other`() {
    let modules = Set(present.keys)
    #expect(present["BramleyClient"]?.isDisjoint(with: modules) == true)
    for (module, names) in present { #expect(!names.contains("BramleyClient"), "\(module)") }
  }

  @Test func `a C module has exactly one importer, which hides it`() {
    let libraries = SourceTree.entries(of: "Sources").filter { name in
      SourceTree.entries(of: "Sources/" + name).contains("module.modulemap")
    }
    #expect(libraries.count >= 6)
    for library in libraries {
      #expect(present.filter { $0.value.contains(library) }.count == 1, "\(library) has one importer")
    }
    for file in SourceTree.sources {
      for entry in imports(of: file) where libraries.contains(entry.module) {
        #expect(entry.access == "internal", "\(file.path) hides \(entry.module)")
      }
    }
  }

  @Test func `storage engines and HTTP never meet`() {
    for module in ["HTTPServer", "API", "Outbound"] {
      for engine in ["SQLiteStorage", "PostgresStorage"] {
        #expect(present[module]?.contains(engine) == false)
        #expect(present[engine]?.contains(module) == false)
      }
    }
  }

  @Test func `providers' rules and our sessions never import each other`() {
    let rules: Set = ["AppleIdentity", "FirebaseIdentity"]
    for module in ["Sessions", "Storage", "ProviderTokens"] {
      #expect(present[module]?.isDisjoint(with: rules) == true)
    }
    for module in rules {
      #expect(present[module]?.isDisjoint(with: rules.union(["Sessions", "Storage"])) == true)
    }
  }

  @Test func `the service holds nothing of the stand-in for Apple`() {
    for (module, names) in present where !["bramley-mock-apple", "Bench"].contains(module) {
      #expect(!names.contains("MockApple"), "\(module) imports MockApple")
    }
  }
}
