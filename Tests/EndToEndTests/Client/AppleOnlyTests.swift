import Foundation
import TestProcesses
import Testing

/// What is compiled on Apple's systems alone, against stand-ins of Apple's interfaces (`Tests/AppleStandIns`): the kit, its
/// samples, and the screens of the README.
@Suite(.timeLimit(.minutes(10)))
struct AppleOnlyTests {
  @Test func `kit, samples and screens are right by what Apple's interfaces say`() async throws {
    try await withStage { stage in
      let compiler = Compiler(stage: stage)
      for name in ["AuthenticationServices", "CryptoKit", "Security", "SwiftUI", "UIKit"] {
        try await compiler.makeModule(name, of: ["\(DeployFiles.root)/Tests/AppleStandIns/\(name).swift"])
      }
      try await compiler.makeModule(
        "BramleyClient", of: try sources(in: "Sources/BramleyClient"),
        [
          "-package-name", "bramley", "-enable-upcoming-feature", "MemberImportVisibility",
          "-strict-memory-safety", "-warnings-as-errors",
        ])
      try await compiler.check([try stage.write(app, to: "app.swift")])
      let samples = try sources(in: "Tests/BramleyClientTests/Samples").map { path in
        // There is no Objective-C here.
        let text = try String(contentsOfFile: path, encoding: .utf8).replacing("@objc ", with: "")
        return try stage.write(text, to: URL(fileURLWithPath: path).lastPathComponent)
      }
      try await compiler.check(samples)
      let screens = try readmeScreens()
      #expect(screens.count == 2)
      for (index, screen) in screens.enumerated() {
        try await compiler.check([try stage.write(screen, to: "screen\(index).swift")])
      }
    }
  }

  /// Uses what is there on Apple's systems alone, so that nothing of it was left out.
  private let app = """
    import AuthenticationServices
    import BramleyClient
    import Foundation

    @MainActor func begin(
      _ sheet: ASAuthorizationAppleIDCredential, _ context: any ASWebAuthenticationPresentationContextProviding
    ) async throws {
      let store = KeychainStore(name: "auth", accessGroup: "ABCDE12345.com.example.shared")
      BramleyApp.configure(url: URL(string: "https://auth.example.com")!, store: store)
      guard let credential = OAuthProvider.appleCredential(sheet, rawNonce: "raw") else { return }
      try await Auth.auth().signIn(with: credential)
      try await Auth.auth().signInWithBrowser(
        clientID: "com.example.web", returnURL: "com.example.app:/signed-in", presenting: context)
    }

    """

  /// The Swift of the README that is a screen.
  private func readmeScreens() throws -> [String] {
    let text = try String(contentsOfFile: "\(DeployFiles.root)/README.md", encoding: .utf8)
    return text.components(separatedBy: "```swift\n").dropFirst().compactMap {
      $0.components(separatedBy: "```").first
    }.filter { $0.contains("import SwiftUI") || $0.contains("import UIKit") }
  }

  private func sources(in folder: String) throws -> [String] {
    let path = "\(DeployFiles.root)/\(folder)"
    let names = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
    return names.filter { $0.hasSuffix(".swift") }.sorted().map { "\(path)/\($0)" }
  }
}

/// The compiler, with the modules that it has made so far.
private struct Compiler {
  let stage: Stage

  func makeModule(_ name: String, of sources: [String], _ options: [String] = []) async throws {
    try await compile(
      ["-emit-module", "-module-name", name, "-o", "\(stage.folder)/\(name).swiftmodule"] + options + sources)
  }

  func check(_ sources: [String]) async throws {
    try await compile(["-typecheck", "-module-name", "Example"] + sources)
  }

  private func compile(_ arguments: [String]) async throws {
    let finished = try await run(
      "/usr/bin/env",
      [
        "swiftc", "-swift-version", "6", "-parse-as-library", "-I", stage.folder,
        "-enable-upcoming-feature", "ExistentialAny", "-enable-upcoming-feature", "InternalImportsByDefault",
        "-enable-upcoming-feature", "NonisolatedNonsendingByDefault",
      ] + arguments, environment: ProcessInfo.processInfo.environment, folder: stage.folder)
    try #require(finished.status == 0, "\(finished.output) \(finished.errors)")
  }
}
