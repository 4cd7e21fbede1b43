import Foundation
import TestProcesses
import Testing
import Wire

/// The programs under test, as they were built with these tests.
enum Program {
  static let bramley = path("bramley")
  static let mockApple = path("bramley-mock-apple")
  static let bench = path("bramley-bench")
  static let clientApp = path("client-app")
  static let backEnd = path("back-end")
  static let python = ["/usr/bin/python3", "/usr/local/bin/python3"].first(where: isExecutable) ?? "python3"

  /// An interpreter that has the packages of `Tests/Clients/requirements.txt`.
  static let clientsPython = ProcessInfo.processInfo.environment["CLIENTS_PYTHON"]

  /// What every child gets, whatever the tests run in.
  static let environment = ["PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/nonexistent"]

  private static func path(_ name: String) -> String {
    var folder = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    // The test bundle is a file in the build folder, or lies in a folder there.
    for _ in 0..<4 where !isExecutable(folder.appendingPathComponent(name).path) {
      folder = folder.deletingLastPathComponent()
    }
    return folder.appendingPathComponent(name).path
  }

  private static func isExecutable(_ path: String) -> Bool {
    FileManager.default.isExecutableFile(atPath: path)
  }
}

/// A program that ran to its end.
struct Finished: Sendable {
  let end: ChildProcess.End
  let output: String
  let errors: String

  var status: Int32? { if case .exit(let status) = end { status } else { nil } }

  /// The one JSON object that it printed.
  var json: JSONObject {
    get throws { try JSONObject(parsing: Array(output.utf8)) }
  }
}

/// Runs a program to its end.
func run(
  _ program: String, _ arguments: [String], environment: [String: String] = [:], folder: String = "/tmp",
  input: String = ""
) async throws -> Finished {
  let child = try ChildProcess(
    program, arguments, environment: Program.environment.merging(environment) { $1 }, folder: folder,
    input: input)
  let end = try await withTaskCancellationHandler {
    try await child.ended()
  } onCancel: {
    child.send(signal: SIGKILL)
  }
  let (output, errors) = child.state.read { ($0.output, $0.errors) }
  return Finished(
    end: end, output: String(decoding: output, as: UTF8.self), errors: String(decoding: errors, as: UTF8.self)
  )
}

/// The address of the line with which a program says that it accepts connections.
func readyAddress(_ output: [UInt8]) -> String? {
  for line in lines(output) {
    guard let object = try? JSONObject(parsing: Array(line.utf8)), object.text("event") == "ready" else {
      continue
    }
    return object.text("listen")
  }
  return nil
}

/// A program ended where it should have begun to serve.
struct NotReady: Error, CustomStringConvertible {
  let end: ChildProcess.End
  let errors: String
  var description: String { "ended with \(end) instead of serving: \(errors)" }
}

/// Waits until a started program accepts connections.
///
/// - Returns: `host:port`.
func ready(_ child: ChildProcess) async throws -> String {
  let outcome: Result<String, NotReady> = try await child.state.first { state in
    if let address = readyAddress(state.output) { return .success(address) }
    return state.end.map {
      .failure(NotReady(end: $0, errors: String(decoding: state.errors, as: UTF8.self)))
    }
  }
  return try outcome.get()
}

/// The port of `host:port`.
func port(of address: String) throws -> UInt16 {
  try #require(address.split(separator: ":").last.flatMap { UInt16($0) })
}
