import Foundation
import TestProcesses

/// Makes the time of day of one process another one.
enum ClockShift {
  /// Settings of a process whose time of day is so many seconds ahead of everybody's.
  static func environment(_ seconds: Int) throws -> [String: String] {
    ["LD_PRELOAD": try library.get(), "CLOCK_SHIFT": String(seconds)]
  }

  /// Compiled once, by the compiler that stands beside Swift's.
  private static let library = Result { () throws -> String in
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let source = tests.appendingPathComponent("Clients/clock_shift.c")
    let target = FileManager.default.temporaryDirectory.appendingPathComponent("clock-shift-\(getpid()).so")
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
