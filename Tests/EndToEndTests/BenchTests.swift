import Foundation
import Glibc
import TestProcesses
import Testing
import Wire

/// The load tool as a program, against the service as a program.
@Suite struct BenchTests {
  /// Runs it with few tokens, which are kept in the stage's folder.
  private func bench(_ stage: Stage, _ arguments: [String]) async throws -> Finished {
    try await run(Program.bench, arguments, environment: ["TMPDIR": stage.folder, "HOME": stage.folder])
  }

  private func spawned(_ stage: Stage, _ arguments: [String]) async throws -> Finished {
    try await bench(
      stage, arguments + ["--spawn", Program.bramley, "--sessions", "8", "--persons", "5", "--no-ceiling"])
  }

  private func counts(_ finished: Finished) throws -> JSONObject {
    try #require(try finished.json.optionalObject("counts"), "\(finished.output) \(finished.errors)")
  }

  @Test(arguments: [
    ["signin", "--count", "40"], ["refresh", "--count", "60", "--connections", "8"],
    ["verify", "--count", "60"],
    ["verify", "--fresh", "--count", "40"], ["introspect", "--count", "40"], ["jwks", "--count", "100"],
    ["firebase", "--count", "45", "--connections", "3"], ["replay", "--count", "60"],
    ["signin", "--count", "30", "--rate", "200/s"], ["jwks", "--count", "100", "--ramp", "100..400"],
    ["verify", "--count", "60", "--threads", "2"], ["signin", "--count", "20", "--accounts", "1500"],
  ])
  func `a workload answers as it should, and its counts add up`(_ arguments: [String]) async throws {
    try await withStage { stage in
      let finished = try await spawned(stage, arguments + ["--json", "-"])
      #expect(finished.status == 0, "\(finished.errors)")
      let counts = try counts(finished)
      let place = try #require(arguments.firstIndex(of: "--count"))
      let wanted = try #require(Int64(arguments[place + 1]))
      // A machine that stands still for two seconds makes the service say so with 503, and rightly.
      let refused = try unavailable(finished)
      #expect(counts.integer("failed") == refused, "\(finished.output)")
      #expect(counts.integer("good") == wanted - refused)
      #expect(counts.integer("answered") == wanted)
      #expect(counts.integer("unsent") == 0 && counts.integer("unanswered") == 0)
      let response = try #require(try finished.json.optionalObject("response"))
      guard case .array(let cells) = response["cells"] else { throw WrongReport() }
      let recorded = cells.reduce(Int64(0)) { sum, cell in
        if case .array(let pair) = cell, case .integer(let count) = pair[1] { sum + count } else { sum }
      }
      #expect(recorded == wanted)
      // The server that was started is gone with its folder.
      let left = try FileManager.default.contentsOfDirectory(atPath: stage.folder)
      #expect(left.filter { $0.hasPrefix("bramley-bench-") } == [])
    }
  }

  struct WrongReport: Error {}

  /// How many answers said that something is not there at the moment.
  private func unavailable(_ finished: Finished) throws -> Int64 {
    guard case .array(let refusals) = try finished.json["refusals"] else { throw WrongReport() }
    return refusals.reduce(0) { sum, refusal in
      guard case .object(let refusal) = refusal, refusal.integer("status") == 503 else { return sum }
      return sum + (refusal.integer("count") ?? 0)
    }
  }

  @Test func `a race fires one token over all connections, and keeps its promise`() async throws {
    try await withStage { stage in
      let finished = try await spawned(stage, ["race", "--count", "5", "--connections", "6", "--json", "-"])
      #expect(finished.status == 0, "\(finished.errors)")
      #expect(try counts(finished).integer("answered") == 30)
      guard case .array(let broken) = try finished.json["broken"] else { throw WrongReport() }
      #expect(broken.isEmpty)
    }
  }

  @Test func `a mix takes its weights from a file`() async throws {
    try await withStage { stage in
      let file = try stage.write("# often\nverify 3\nrefresh 1\n\nsignin 1 # seldom\n", to: "mix")
      let finished = try await spawned(stage, ["mix", file, "--count", "50", "--json", "-"])
      #expect(finished.status == 0, "\(finished.errors)")
      #expect(try counts(finished).integer("good") == 50 - unavailable(finished))
    }
  }

  @Test(arguments: [
    "verify 0", "sigin 1", "race 1", "verify", "verify 1\nverify 2", "", "mix 1", "verify 1 2",
  ])
  func `a mix that is none is refused`(_ text: String) async throws {
    try await withStage { stage in
      let file = try stage.write(text, to: "mix")
      let finished = try await spawned(stage, ["mix", file, "--count", "5"])
      #expect(finished.status == 64, "\(finished.errors)")
    }
  }

  @Test func `a condition that holds ends the run with 1, and the report is written all the same`()
    async throws
  {
    try await withStage { stage in
      let report = stage.folder + "/a.json"
      let page = stage.folder + "/a.html"
      let finished = try await spawned(
        stage,
        [
          "jwks", "--count", "20", "--fail-if", "p99>1ns", "--fail-if", "errors>0", "--json", report,
          "--html", page,
        ])
      #expect(finished.status == 1)
      #expect(finished.errors.contains("p99>1ns: it was"))
      #expect(!finished.errors.contains("errors>0"))
      #expect(finished.output.contains("answered   20"))
      #expect(try String(contentsOfFile: page, encoding: .utf8).contains("<svg"))

      let same = try await bench(stage, ["--compare", report, report])
      #expect(same.status == 0)
      #expect(same.output.contains("+0.0%"))
      let none = try await bench(stage, ["compare", report, page])
      #expect(none.status == 69)
    }
  }

  @Test func `a report has the ratio to what cannot be done without`() async throws {
    try await withStage { stage in
      let finished = try await bench(
        stage,
        [
          "refresh", "--spawn", Program.bramley, "--sessions", "8", "--persons", "5", "--duration", "500ms",
          "--warm-up", "100ms", "--json", "-",
        ])
      #expect(finished.status == 0, "\(finished.errors)")
      guard case .array(let floor) = try finished.json["floor"] else { throw WrongReport() }
      #expect(floor.count == 2)
      let report = try finished.json
      #expect(report["ratio"] != nil)
    }
  }

  @Test func `a server that dies in the middle is told of, and ends the run`() async throws {
    try await withStage { stage in
      let service = try await stage.start()
      let child = try await longRun(stage, service)
      try await service.kill()
      #expect(try await child.ended() == .exit(69))
      #expect(child.errorText.contains("the server is gone"))
      #expect(child.outputLines.contains { $0.contains("connection_broken") })
    }
  }

  @Test func `a run that is interrupted reports what it measured`() async throws {
    try await withStage { stage in
      let service = try await stage.start()
      let child = try await longRun(stage, service)
      child.send(signal: SIGINT)
      #expect(try await child.ended() == .exit(0))
      #expect(child.outputLines.contains { $0.contains("stopped before its time") })
      #expect(child.outputLines.contains { $0.hasPrefix("answered") })
    }
  }

  /// Somebody who listens and is no Bramley: answers `{}` to everything, or nothing at all.
  private func stranger(_ stage: Stage, answers: Bool) async throws -> String {
    let script = """
      import http.server, socket, sys
      class Handler(http.server.BaseHTTPRequestHandler):
          protocol_version = "HTTP/1.1"
          def do_POST(self):
              self.rfile.read(int(self.headers["Content-Length"]))
              self.send_response(200)
              self.send_header("Content-Length", "2")
              self.end_headers()
              self.wfile.write(b"{}")
          def log_message(self, *words): pass
      if sys.argv[1] == "True":
          server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
          print(server.server_port, flush=True)
          server.serve_forever()
      listener = socket.create_server(("127.0.0.1", 0))
      print(listener.getsockname()[1], flush=True)
      sys.stdin.read()
      """
    let child = stage.keep(
      try ChildProcess(
        Program.python, ["-c", script, answers ? "True" : "False"], environment: Program.environment,
        folder: stage.folder, input: nil))
    return "http://127.0.0.1:" + (try await child.line { !$0.isEmpty })
  }

  @Test(arguments: [true, false])
  func `a server that signs nobody in passes for nothing`(_ answers: Bool) async throws {
    try await withStage { stage in
      let url = try await stranger(stage, answers: answers)
      let finished = try await bench(
        stage,
        [
          "signin", "--url", url, "--mint", "50", "--persons", "5", "--duration", "500ms", "--warm-up", "0s",
          "--connections", "2", "--no-ceiling", "--fail-if", "errors>0",
        ])
      #expect(finished.status == 1, "\(finished.output) \(finished.errors)")
      #expect(finished.errors.contains("errors>0"))
    }
  }

  @Test func `a token that opens no session is no passed test either`() async throws {
    try await withStage { stage in
      let service = try await stage.start()
      // Its client ids are others.
      let finished = try await bench(
        stage, ["replay", "--url", service.baseURL, "--count", "10", "--no-ceiling"])
      #expect(finished.status == 1, "\(finished.output)")
      #expect(finished.errors.contains("opened 0 sessions"))
    }
  }

  @Test func `a report that cannot be written is printed`() async throws {
    try await withStage { stage in
      let finished = try await spawned(stage, ["jwks", "--count", "5", "--json", "/no/folder/report"])
      #expect(finished.status == 69)
      #expect(finished.output.contains("answered"))
      #expect(finished.errors.contains("/no/folder/report"))
    }
  }

  @Test func `a run that is interrupted has not passed`() async throws {
    try await withStage { stage in
      let service = try await stage.start()
      let child = try await longRun(stage, service, ["--fail-if", "errors>0"])
      child.send(signal: SIGINT)
      #expect(try await child.ended() == .exit(1))
      #expect(child.errorText.contains("stopped before its time"))
    }
  }

  /// A run of five minutes that has begun.
  private func longRun(
    _ stage: Stage, _ service: Service, _ more: [String] = []
  ) async throws -> ChildProcess {
    let child = stage.keep(
      try ChildProcess(
        Program.bench, ["jwks", "--url", service.baseURL, "--duration", "5m", "--warm-up", "0s"] + more,
        environment: Program.environment, folder: stage.folder))
    // It has begun when there is more than nobody's connection.
    while try await openConnections(of: service) < 32 { await Task.yield() }
    return child
  }

  private func openConnections(of service: Service) async throws -> Int {
    let text = String(decoding: try await service.get("/metrics").body, as: UTF8.self)
    let line = text.split(separator: "\n").first { $0.hasPrefix("bramley_connections ") }
    return line.flatMap { $0.split(separator: " ").last }.flatMap { Double($0) }.map { Int($0) } ?? 0
  }

  @Test func `how soon a server is ready is measured twice`() async throws {
    try await withStage { stage in
      let finished = try await bench(stage, ["start", "--spawn", Program.bramley, "--json"])
      #expect(finished.status == 0, "\(finished.errors)")
      #expect(try finished.json.integer("idleBytes") ?? 0 > 1_000_000)
    }
  }

  @Test(arguments: [
    [], ["nonsense"], ["signin"], ["signin", "--spawn", "x", "--url", "http://127.0.0.1:1"],
    ["signin", "--url", "http://192.0.2.1:80"], ["signin", "--url", "https://127.0.0.1:1"],
    ["jwks", "--url", "http://127.0.0.1:1", "--rate", "fast"],
    ["jwks", "--url", "http://127.0.0.1:1", "--nonsense"],
    ["jwks", "--url", "http://127.0.0.1:1", "--rate", "5", "--closed", "5"],
    ["jwks", "--url", "http://127.0.0.1:1", "--ramp", "5"],
    ["jwks", "--url", "http://127.0.0.1:1", "--duration", "5"],
    ["jwks", "--url", "http://127.0.0.1:1", "--connections", "0"],
    ["jwks", "--url", "http://127.0.0.1:1", "--fail-if", "p99"],
    ["jwks", "--url", "http://127.0.0.1:1", "--find-max", "--rate", "5"],
    ["jwks", "--url", "http://127.0.0.1:1", "--p99", "5ms"],
    ["jwks", "--url", "http://127.0.0.1:1", "--fresh"],
    ["jwks", "--url", "http://127.0.0.1:1", "--log", "x"],
    ["race", "--url", "http://127.0.0.1:1", "--rate", "5"],
    ["mix", "--url", "http://127.0.0.1:1"], ["jwks", "word", "--url", "http://127.0.0.1:1"],
    ["compare", "x"],
    ["ceiling", "x"], ["start"], ["mint"],
  ])
  func `wrong usage ends with 64 and says what is wrong`(_ arguments: [String]) async throws {
    let finished = try await run(Program.bench, arguments)
    #expect(finished.status == 64, "\(finished.errors)")
    #expect(!(finished.errors + finished.output).isEmpty)
  }

  @Test func `what is not there ends with 69`() async throws {
    for arguments in [
      ["jwks", "--url", "http://127.0.0.1:1"], ["jwks", "--spawn", "/nonexistent/bramley"],
      ["jwks", "--spawn", "/usr/bin/true"], ["mix", "/nonexistent/mix", "--spawn", Program.bramley],
    ] {
      let finished = try await run(Program.bench, arguments)
      #expect(finished.status == 69, "\(arguments) \(finished.errors)")
    }
  }

  @Test func `every command has help`() async throws {
    let overview = try await run(Program.bench, ["--help"])
    #expect(overview.status == 0)
    for name in ["signin", "mix", "ceiling", "start", "compare", "mint"] {
      #expect(overview.output.contains("  \(name) "))
      let help = try await run(Program.bench, [name, "--help"])
      #expect(help.status == 0)
      #expect(help.output.contains("usage: bramley-bench \(name)"))
    }
  }
}
