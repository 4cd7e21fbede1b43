import Foundation
import TestProcesses

/// A library that tests put before those of a process (ld.so(8), LD_PRELOAD).
enum Preloaded {
  /// Compiles one, by the compiler that stands beside Swift's.
  ///
  /// - Parameter name: Of a C file in `Tests/Clients`.
  /// - Returns: The library's path.
  static func library(_ name: String) throws -> String {
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let source = tests.appendingPathComponent("Clients/\(name).c")
    let target = FileManager.default.temporaryDirectory.appendingPathComponent("\(name)-\(getpid()).so")
    let compiler = Process()
    compiler.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    compiler.arguments = ["clang", "-shared", "-fPIC", "-O1", "-o", target.path, source.path]
    try compiler.run()
    compiler.waitUntilExit()
    guard compiler.terminationStatus == 0 else {
      throw SystemFault(call: "clang", code: compiler.terminationStatus)
    }
    return target.path
  }
}

/// Makes the time of day of one process another one.
enum ClockShift {
  /// Settings of a process whose time of day is so many seconds ahead of everybody's.
  static func environment(_ seconds: Int) throws -> [String: String] {
    ["LD_PRELOAD": try library.get(), "CLOCK_SHIFT": String(seconds)]
  }

  private static let library = Result { try Preloaded.library("clock_shift") }
}

/// Counts how often one process asks for memory.
struct AllocationCount {
  private let file: String

  init(in stage: Stage) throws {
    file = try stage.write(String(repeating: "\0", count: 8), to: "allocations")
  }

  /// Settings of the process.
  var environment: [String: String] {
    get throws { ["LD_PRELOAD": try Self.library.get(), "ALLOCATION_COUNT": file] }
  }

  /// How often it has asked so far.
  var value: Int {
    get throws {
      try Data(contentsOf: URL(fileURLWithPath: file)).reversed().reduce(0) { $0 << 8 | Int($1) }
    }
  }

  private static let library = Result { try Preloaded.library("count_allocations") }
}
