import Foundation
import Glibc
import TestProcesses
import Testing
import Wire

/// The stand-in for Apple as a program.
struct MockAppleProgram: Sendable {
  let process: ChildProcess
  let port: UInt16
  /// Of the key endpoint that can be told to misbehave.
  let keysPort: UInt16

  /// One for all tests that leave it as it is: it keeps nothing, and its end is the end of the tests.
  static var shared: MockAppleProgram {
    get async throws { try await started.value }
  }

  private static let started = Task { try await start() }

  static func start(listen: String = "127.0.0.1:0") async throws -> MockAppleProgram {
    let child = try ChildProcess(
      Program.mockApple, ["serve", "--listen", listen], environment: Program.environment, folder: "/tmp")
    let address = try await ready(child)
    let line = try #require(child.outputLines.first { $0.contains("keysListen") })
    let keys = try #require(try JSONObject(parsing: Array(line.utf8)).text("keysListen"))
    SeenAnswers.ignore(try EndToEndTests.port(of: address))
    return MockAppleProgram(
      process: child, port: try EndToEndTests.port(of: address), keysPort: try EndToEndTests.port(of: keys))
  }

  var baseURL: String { "http://127.0.0.1:\(port)" }
  var keysURL: String { "http://127.0.0.1:\(keysPort)" }

  /// Makes the key endpoint behave in a way of the stand-in's own list.
  func behave(_ behaviour: String, milliseconds: Int = 3000) async throws {
    let order = #"{"keys":"\#(behaviour)","milliseconds":\#(milliseconds)}"#
    let answer = try await exchange(.post("/behaviour", json: order), port: port)
    try #require(answer.status == 200, "\(answer)")
  }

  /// How often the key endpoint was asked.
  func keyRequests() async throws -> Int64 {
    try #require(try await exchange(HTTPRequest(path: "/behaviour"), port: port).json.integer("requests"))
  }

  func kill() async throws {
    process.send(signal: SIGKILL)
    try await process.ended()
  }
}

/// Gives a test a stand-in of its own whose key endpoint behaves in this way, and a folder beside it.
func withMisbehavingApple(
  _ behaviour: String, milliseconds: Int = 3000, _ body: (MockAppleProgram, Stage) async throws -> Void
) async throws {
  let apple = try await MockAppleProgram.start()
  try await apple.behave(behaviour, milliseconds: milliseconds)
  try await withStage(appleURL: apple.keysURL) { stage in try await body(apple, stage) }
  try await apple.kill()
}
