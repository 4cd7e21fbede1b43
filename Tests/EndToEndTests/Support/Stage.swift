import Foundation
import TestProcesses
import Testing
import Wire

/// One test's own folder, with the services that work in it.
final class Stage: Sendable {
  let folder: String
  let appleURL: String
  private let children = Watched<[ChildProcess]>([])
  private let ports = Watched<Set<UInt16>>([])

  init(folder: String, appleURL: String) {
    self.folder = folder
    self.appleURL = appleURL
  }

  var database: String { folder + "/bramley.db" }
  var masterKeyFile: String { database + ".master-key" }

  /// The settings of its services.
  var settings: [String: String] {
    [
      "BRAMLEY_LISTEN": "127.0.0.1:0", "BRAMLEY_DATABASE_URL": "sqlite:\(database)",
      "BRAMLEY_APPLE_CLIENT_IDS": Client.setting, "BRAMLEY_APPLE_BASE_URL": appleURL,
      // All requests of a test come from one address.
      "BRAMLEY_RATE_SIGNIN": "off", "BRAMLEY_RATE_REFRESH": "off", "BRAMLEY_RATE_SIGNUP": "off",
    ]
  }

  /// Starts a service and waits until it accepts connections.
  ///
  /// - Parameters:
  ///   - changes: Settings to add or replace.
  ///   - omitted: Settings to leave to the file that is named by the arguments.
  ///   - arguments: Of the command line, behind `serve`.
  ///   - ahead: Seconds by which its time of day is ahead of everybody's.
  func start(
    _ changes: [String: String] = [:], without omitted: Set<String> = [], arguments: [String] = [],
    secondsAhead ahead: Int? = nil
  ) async throws -> Service {
    let child = try launch(changes, without: omitted, arguments: arguments, secondsAhead: ahead)
    let service = Service(process: child, port: try port(of: await ready(child)))
    // One that it had before, as after a restart, goes on.
    if ports.update({ $0.insert(service.port).inserted }) { SeenAnswers.begin(at: service.port) }
    return service
  }

  /// Starts a service that may not come to serving.
  func launch(
    _ changes: [String: String] = [:], without omitted: Set<String> = [], arguments: [String] = [],
    secondsAhead ahead: Int? = nil
  ) throws -> ChildProcess {
    let own = settings.filter { !omitted.contains($0.key) }
    var environment = Program.environment.merging(own) { $1 }.merging(changes) { $1 }
    if let ahead {
      environment.merge(try ClockShift.environment(ahead)) { $1 }
    }
    return keep(
      try ChildProcess(Program.bramley, ["serve"] + arguments, environment: environment, folder: folder))
  }

  /// Runs a `bramley` command to its end, with the settings of the services.
  func command(
    _ arguments: String..., settings changes: [String: String] = [:], input: String = ""
  ) async throws -> Finished {
    try await command(arguments, settings: changes, input: input)
  }

  func command(
    _ arguments: [String], settings changes: [String: String] = [:], input: String = ""
  ) async throws -> Finished {
    try await run(
      Program.bramley, arguments, environment: settings.merging(changes) { $1 }, folder: folder, input: input)
  }

  /// Writes a file into the folder.
  ///
  /// - Returns: Its path.
  func write(_ text: String, to name: String) throws -> String {
    let path = folder + "/" + name
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    return path
  }

  /// Runs SQL on the database from outside.
  ///
  /// - Parameter path: Another database than the services'.
  /// - Returns: The first column of the first row, as text.
  @discardableResult
  func sql(_ text: String, on path: String? = nil) async throws -> String {
    let script = """
      import sqlite3, sys
      database = sqlite3.connect(sys.argv[1], timeout=20)
      row = database.execute(sys.argv[2]).fetchone()
      database.commit()
      print("" if row is None else row[0])
      """
    let finished = try await run(Program.python, ["-c", script, path ?? database, text])
    try #require(finished.status == 0, "\(finished.errors)")
    return finished.output.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// Holds the database's write lock until the process that is returned has its input closed.
  func lockDatabase() async throws -> ChildProcess {
    let script = """
      import sqlite3, sys
      database = sqlite3.connect(sys.argv[1], timeout=20, isolation_level=None)
      database.execute("BEGIN IMMEDIATE")
      print("locked", flush=True)
      sys.stdin.read()
      """
    let holder = keep(
      try ChildProcess(
        Program.python, ["-c", script, database], environment: Program.environment, folder: folder, input: nil
      ))
    try await holder.line { $0 == "locked" }
    return holder
  }

  /// Sees to it that a program ends with the stage.
  func keep(_ child: ChildProcess) -> ChildProcess {
    children.update { $0.append(child) }
    return child
  }

  /// Ends what still runs, and looks at what all services have answered and written.
  fileprivate func end() async {
    for port in ports.read({ $0 }) {
      #expect(throws: Never.self) { try SeenAnswers.expectDescribed(from: port) }
    }
    let children = children.read { $0 }
    for child in children { child.send(signal: SIGKILL) }
    for child in children {
      _ = await Task { try await child.ended() }.result
      guard child.outputLines.first?.hasPrefix("{") ?? false else { continue }
      for line in child.outputLines {
        #expect(throws: Never.self) { try JSONObject(parsing: Array(line.utf8)) }
        // A key's name may begin as a token does, but a token has three parts.
        let token = line.range(of: #"eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\."#, options: .regularExpression)
        #expect(token == nil, "a token in the log")
      }
    }
    try? FileManager.default.removeItem(atPath: folder)
  }
}

/// Gives a test a folder and a stand-in for Apple, and cleans up after it.
func withStage(appleURL: String? = nil, _ body: (Stage) async throws -> Void) async throws {
  let template = FileManager.default.temporaryDirectory.appendingPathComponent("bramley-e2e-XXXXXX").path
  var name = Array(template.utf8CString)
  guard mkdtemp(&name) != nil else { throw SystemFault(call: "mkdtemp", code: errno) }
  let folder = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  let url: String
  if let appleURL { url = appleURL } else { url = try await MockAppleProgram.shared.baseURL }
  let stage = Stage(folder: folder, appleURL: url)
  do {
    try await body(stage)
  } catch {
    await stage.end()
    throw error
  }
  await stage.end()
}

/// Gives a test a service of its own.
func withService(_ changes: [String: String] = [:], _ body: (Service) async throws -> Void) async throws {
  try await withStage { stage in try await body(try await stage.start(changes)) }
}
