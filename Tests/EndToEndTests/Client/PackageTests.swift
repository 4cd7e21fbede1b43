import Foundation
import TestProcesses
import Testing

/// The package as others have it: by a URL.
@Suite(.timeLimit(.minutes(10)))
struct PackageTests {
  /// Xcode's build system is the second of them; with it warnings of others' packages are silenced.
  @Test(arguments: ["native", "swiftbuild"])
  func `a program that has the products by a URL builds and runs`(_ buildSystem: String) async throws {
    try await withStage { stage in
      let kit = stage.folder + "/bramley"
      try FileManager.default.createDirectory(atPath: kit, withIntermediateDirectories: true)
      for name in ["Package.swift", "Sources", "Tests"] {
        try FileManager.default.copyItem(atPath: "\(DeployFiles.root)/\(name)", toPath: "\(kit)/\(name)")
      }
      try await done("git", ["init", "--quiet"], in: kit)
      try await done("git", ["add", "--all"], in: kit)
      let author = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
      try await done("git", author + ["commit", "--quiet", "--message", "All"], in: kit)
      try await done("git", ["tag", "1.0.0"], in: kit)
      let app = stage.folder + "/app"
      try FileManager.default.createDirectory(atPath: app, withIntermediateDirectories: true)
      _ = try stage.write(manifest(of: kit), to: "app/Package.swift")
      _ = try stage.write(program, to: "app/main.swift")
      let options = ["--build-system", buildSystem, "--disable-dependency-cache"]
      try await done("swift", ["build"] + options, in: app)
      let output = try await done("swift", ["run", "--skip-build"] + options + ["app"], in: app)
      #expect(output == "64\n")
    }
  }

  private func manifest(of kit: String) -> String {
    """
    // swift-tools-version: 6.0
    import PackageDescription

    let products = ["BramleyClient", "BramleyVerifier"]
    let package = Package(
      name: "app", platforms: [.iOS(.v16), .macOS(.v13)],
      dependencies: [.package(url: "file://\(kit)", from: "1.0.0")],
      targets: [
        .executableTarget(
          name: "app", dependencies: products.map { .product(name: $0, package: "bramley") }, path: ".",
          sources: ["main.swift"])
      ])

    """
  }

  private let program = """
    import BramleyClient
    import BramleyVerifier

    print(AppleNonce().sha256.count)

    """

  /// - Returns: What the program said.
  @discardableResult
  private func done(_ program: String, _ arguments: [String], in folder: String) async throws -> String {
    let finished = try await run(
      "/usr/bin/env", ["--unset=STRICT_BRAMLEY_BUILD", program] + arguments,
      environment: ProcessInfo.processInfo.environment, folder: folder)
    try #require(finished.status == 0, "\(program) \(arguments): \(finished.output) \(finished.errors)")
    return finished.output
  }
}
