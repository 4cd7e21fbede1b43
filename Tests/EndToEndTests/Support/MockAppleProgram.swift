import Foundation

/// The stand-in for Apple as a program.
struct MockAppleProgram: Sendable {
  let process: ChildProcess
  let port: UInt16

  /// One for all tests: it keeps nothing, and its end is the end of the tests.
  static var shared: MockAppleProgram {
    get async throws { try await started.value }
  }

  private static let started = Task { try await start() }

  static func start(listen: String = "127.0.0.1:0") async throws -> MockAppleProgram {
    let child = try ChildProcess(
      Program.mockApple, ["serve", "--listen", listen], environment: Program.environment, folder: "/tmp")
    return MockAppleProgram(process: child, port: try EndToEndTests.port(of: await ready(child)))
  }

  var baseURL: String { "http://127.0.0.1:\(port)" }
}
