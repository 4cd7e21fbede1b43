// swift-tools-version: 6.2
import PackageDescription

/// The compiler is the first reviewer: warnings are errors where `deploy/test.sh` builds. In an app that has this package
/// by its URL they must not be: Xcode silences the warnings of such packages, and the compiler does not take both.
let reviewed: [SwiftSetting] =
  Context.environment["STRICT_BRAMLEY_BUILD"] == nil ? [] : [.treatAllWarnings(as: .error)]

/// What every target is built with.
let strict: [SwiftSetting] =
  reviewed + [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .strictMemorySafety(),
  ]

/// Tests may use Foundation and C freely: the same language mode, without the memory-safety audit.
let relaxed: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

func module(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource] = []) -> Target {
  .target(name: name, dependencies: dependencies, resources: resources, swiftSettings: strict)
}

func program(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .executableTarget(name: name, dependencies: dependencies, swiftSettings: strict)
}

func tests(
  _ name: String, _ dependencies: [Target.Dependency], resources: [Resource] = []
) -> Target {
  .testTarget(name: name, dependencies: dependencies, resources: resources, swiftSettings: relaxed)
}

func system(_ name: String, _ pkgConfig: String, _ package: String) -> Target {
  .systemLibrary(name: name, pkgConfig: pkgConfig, providers: [.apt([package])])
}

// Layers from the bottom up; who may import whom is held by Tests/ArchitectureTests.
let package = Package(
  name: "bramley",
  // The oldest that the app's kit runs on. All else is for Linux.
  platforms: [.iOS(.v16), .macOS(.v13), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
  products: [
    .library(name: "BramleyClient", targets: ["BramleyClient"]),
    .library(name: "BramleyVerifier", targets: ["BramleyVerifier"]),
    .executable(name: "bramley", targets: ["bramley"]),
    .executable(name: "bramley-mock-apple", targets: ["bramley-mock-apple"]),
    .executable(name: "bramley-bench", targets: ["bramley-bench"]),
  ],
  targets: [
    // Layer 0: system libraries, each with one importer.
    system("COpenSSL", "openssl", "libssl-dev"),
    system("CCurl", "libcurl", "libcurl4-openssl-dev"),
    system("CPostgres", "libpq", "libpq-dev"),
    system("CSQLite", "sqlite3", "libsqlite3-dev"),
    system("CMicroHTTPD", "libmicrohttpd", "libmicrohttpd-dev"),
    system("CJansson", "jansson", "libjansson-dev"),
    system("CYAML", "yaml-0.1", "libyaml-dev"),
    .systemLibrary(name: "CEpoll"),

    // Layer 1: bytes, words and threads.
    module("Threads", []),
    module("Wire", ["CJansson"]),
    module("Domain", []),
    module("LoadReport", ["Wire"]),

    // Layer 2: one outside library each.
    module("Crypto", ["COpenSSL", "Domain"]),
    module("Outbound", ["CCurl", "Domain", "Threads"]),
    module("HTTPServer", ["CMicroHTTPD"]),
    module("Telemetry", ["Domain", "Threads"]),
    module("Load", ["CEpoll", "Domain", "LoadReport", "Threads"]),

    // Layer 3: tokens, and what must be remembered.
    module("JOSE", ["Wire", "Crypto", "Domain"]),
    module("Storage", ["Domain"]),

    // For other programs: verifies session tokens, and links nothing of the service.
    module("BramleyVerifier", ["Crypto", "Domain", "JOSE", "Outbound", "Wire"]),

    // For apps: Foundation and nothing else, so that it builds wherever an app does.
    module("BramleyClient", []),

    // Layer 4: the rules, and the engine that keeps them.
    module("ProviderTokens", ["Wire", "Domain", "Crypto", "JOSE"]),
    module("AppleIdentity", ["Wire", "Domain", "Crypto", "JOSE", "ProviderTokens"]),
    module("FirebaseIdentity", ["Wire", "Domain", "Crypto", "ProviderTokens"]),
    module("Sessions", ["Wire", "Domain", "Crypto", "JOSE", "Storage"]),
    module("SQLLedger", ["Domain", "Storage"]),
    module(
      "SQLiteStorage", ["CSQLite", "Domain", "SQLLedger", "Storage", "Threads"],
      resources: [
        .embedInCode("Migrations/V0001_initial.sql"), .embedInCode("Migrations/V0002_accounts.sql"),
        .embedInCode("Migrations/V0003_signing_keys.sql"),
        .embedInCode("Migrations/V0004_revocations_audit.sql"), .embedInCode("Migrations/V0005_apple.sql"),
        .embedInCode("Migrations/V0006_notifications.sql"),
        .embedInCode("Migrations/V0007_transfers.sql"),
        .embedInCode("Migrations/V0008_apple_evidence.sql"), .embedInCode("Migrations/V0009_imports.sql"),
      ]),
    module(
      "PostgresStorage", ["CPostgres", "Domain", "SQLLedger", "Storage", "Threads"],
      resources: [.embedInCode("Migrations/V0001_initial.sql")]),

    // Layer 5: the HTTP face, and what an operator may set.
    module(
      "API",
      [
        "HTTPServer", "Wire", "Domain", "Crypto", "Telemetry", "AppleIdentity", "FirebaseIdentity",
        "ProviderTokens", "Sessions", "Storage",
      ],
      resources: [
        .embedInCode("Resources/openapi.yaml"), .embedInCode("Resources/signin-demo.html"),
        .embedInCode("Resources/signin-demo.js"), .embedInCode("Resources/signin-demo.css"),
        .embedInCode("Resources/console.html"), .embedInCode("Resources/console.js"),
        .embedInCode("Resources/console.css"),
      ]),
    module(
      "Settings", ["CYAML", "Domain", "Crypto", "AppleIdentity", "FirebaseIdentity", "Sessions", "Telemetry"]),

    // Layer 6: everything put together; and a stand-in for Apple.
    module(
      "Assembly",
      [
        "API", "AppleIdentity", "Crypto", "Domain", "HTTPServer", "JOSE", "Outbound", "PostgresStorage",
        "ProviderTokens", "SQLLedger", "SQLiteStorage", "Sessions", "Settings", "Storage", "Telemetry",
        "Threads",
        "Wire",
      ]),
    module(
      "MockApple", ["HTTPServer", "Threads", "Wire", "Domain", "Crypto", "JOSE"],
      resources: [
        .embedInCode("Keys/MockKeyA.pem"), .embedInCode("Keys/MockKeyB.pem"),
        .embedInCode("Keys/MockKeyC.pem"), .embedInCode("Keys/MockTeamKey.pem"),
        .embedInCode("Keys/MockOtherTeamKey.pem"),
      ]),
    module(
      "Bench",
      [
        "Crypto", "Domain", "HTTPServer", "Load", "LoadReport", "MockApple", "SQLiteStorage",
        "Storage",
        "Threads", "Wire",
      ]),

    // Layer 7: the programs.
    program(
      "bramley",
      [
        "API", "Assembly", "AppleIdentity", "Domain", "JOSE", "Sessions", "Settings",
        "Storage",
        "Telemetry", "Wire",
      ]),
    program(
      "bramley-mock-apple", ["MockApple", "Crypto", "Domain", "HTTPServer", "Outbound", "Wire"]),
    program("bramley-bench", ["Bench", "Load", "LoadReport", "Threads", "Wire"]),

    tests("HTTPServerTests", ["HTTPServer"]),
    tests("ThreadsTests", ["Threads"]),
    tests("OutboundTests", ["Outbound", "Domain", "TestProcesses", "Threads"]),
    tests("TelemetryTests", ["Telemetry", "Domain", "Threads"]),
    tests(
      "StorageConformanceTests",
      [
        "Storage", "PostgresStorage", "SQLLedger", "SQLiteStorage", "Domain", "TestProcesses", "Threads",
        "CPostgres", "CSQLite",
      ]),

    // What tests share: a clock that moves by hand, seeded randomness, a fetcher with a script, a token forge.
    .target(
      name: "TestSupport", dependencies: ["Crypto", "Domain", "JOSE", "Wire"], path: "Tests/TestSupport",
      swiftSettings: relaxed),
    // The programs that tests start, and values that tests wait for.
    .target(name: "TestProcesses", path: "Tests/TestProcesses", swiftSettings: relaxed),
    // An app with the kit, so that tests have several processes with one session.
    .executableTarget(
      name: "client-app", dependencies: ["BramleyClient"], path: "Tests/ClientApp", swiftSettings: relaxed),
    // A service that takes session JWTs, which stands beside those in other languages.
    .executableTarget(
      name: "back-end", dependencies: ["BramleyVerifier", "HTTPServer"], path: "Tests/BackEnds",
      exclude: ["back_end.go", "back_end.mjs", "back_end.py"], swiftSettings: relaxed),
    // Reads openapi.yaml and holds answers against it.
    .target(
      name: "Contract", dependencies: ["CYAML", "Wire"], path: "Tests/Contract", swiftSettings: relaxed),
    tests("WireTests", ["Wire", "TestSupport"]),
    tests("DomainTests", ["Domain", "TestSupport"]),
    tests("CryptoTests", ["Crypto", "Domain", "TestProcesses", "TestSupport", "Wire"]),
    tests("BramleyVerifierTests", ["BramleyVerifier", "Crypto", "Domain", "JOSE", "TestSupport", "Wire"]),
    tests("BramleyClientTests", ["BramleyClient", "Contract", "TestProcesses"]),
    tests("JOSETests", ["JOSE", "Crypto", "Domain", "TestSupport", "Wire"]),
    tests("ProviderTokensTests", ["ProviderTokens", "Crypto", "Domain", "JOSE", "TestSupport"]),
    tests(
      "AppleIdentityTests",
      ["AppleIdentity", "Crypto", "Domain", "JOSE", "ProviderTokens", "TestSupport", "Wire"]),
    tests(
      "FirebaseIdentityTests",
      ["FirebaseIdentity", "Crypto", "Domain", "JOSE", "ProviderTokens", "TestSupport", "Wire"]),
    tests("SessionsTests", ["Sessions", "Crypto", "Domain", "JOSE", "Storage", "TestSupport", "Wire"]),
    tests("SettingsTests", ["Settings", "AppleIdentity", "Crypto", "Domain", "Telemetry"]),
    tests(
      "APITests",
      [
        "API", "AppleIdentity", "Crypto", "Domain", "FirebaseIdentity", "HTTPServer", "JOSE",
        "ProviderTokens",
        "Sessions", "Storage", "Telemetry", "TestSupport", "Wire",
      ]),
    tests("ArchitectureTests", ["TestProcesses", "Wire"]),
    tests("LoadTests", ["Bench", "Load", "LoadReport", "Threads", "Wire"]),
    tests(
      "ContractTests",
      [
        "API", "AppleIdentity", "Contract", "Crypto", "Domain", "HTTPServer", "ProviderTokens", "Sessions",
        "Settings", "Storage",
        "Telemetry", "TestSupport", "Wire",
      ]),
    tests(
      "EndToEndTests",
      [
        "BramleyClient", "BramleyVerifier", "Contract", "MockApple", "Crypto", "Domain", "JOSE",
        "TestProcesses",
        "Wire",
        "client-app", "back-end",
      ]),
  ]
)

// Only for deploy/fuzz.sh, which links it with libFuzzer.
if Context.environment["FUZZ"] != nil {
  package.targets.append(
    .target(
      name: "Fuzz",
      dependencies: ["AppleIdentity", "Domain", "FirebaseIdentity", "JOSE", "Sessions", "Wire"],
      path: "Tests/Fuzz",
      exclude: ["corpus"], swiftSettings: relaxed))
}
