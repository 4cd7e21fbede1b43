import Domain
import Foundation
import Telemetry
import Testing
import Threads

@Suite(.timeLimit(.minutes(3)))
struct LogTests {
  @Test func `an event is one JSON line with its time, level, name and fields in order`() async throws {
    let memory = Memory()
    let log = try memory.log(at: 1_796_007_062)
    log.info(
      "ready",
      [.text("listen", "127.0.0.1:8080"), .number("workers", -2), .flag("tls", true), .flag("dev", false)])
    await log.stop()
    #expect(
      memory.text
        == #"{"time":"2026-11-30T02:51:02Z","level":"info","event":"ready","listen":"127.0.0.1:8080","#
        + #""workers":-2,"tls":true,"dev":false}"# + "\n")
  }

  @Test(arguments: [
    (0, "1970-01-01T00:00:00Z"), (951_782_399, "2000-02-28T23:59:59Z"), (951_782_400, "2000-02-29T00:00:00Z"),
    (951_868_800, "2000-03-01T00:00:00Z"), (1_709_164_800, "2024-02-29T00:00:00Z"),
    (2_147_483_648, "2038-01-19T03:14:08Z"), (4_107_542_399, "2100-02-28T23:59:59Z"),
    (4_107_542_400, "2100-03-01T00:00:00Z"), (253_402_300_799, "9999-12-31T23:59:59Z"),
    (Int64.max, "9999-12-31T23:59:59Z"), (-1, "1970-01-01T00:00:00Z"),
  ])
  func `a time is written as RFC 3339 has it`(_ seconds: Int64, _ expected: String) async throws {
    #expect(try await timeWritten(at: seconds) == expected)
  }

  @Test func `times agree with another calendar's for days of four centuries`() async throws {
    let clock = Monitor(Int64(0))
    let memory = Memory()
    let log = try memory.log(clock: WallClock { UnixTime(clock.read { $0 }) }, capacity: 10_000)
    let moments = stride(from: Int64(0), to: 12_622_780_800, by: 86_400 * 37 + 12_345)
    for moment in moments {
      clock.update { $0 = moment }
      log.info("tick")
    }
    await log.stop()
    let format = ISO8601DateFormatter()
    let expected = moments.map { format.string(from: Date(timeIntervalSince1970: TimeInterval($0))) }
    #expect(try memory.objects().map { $0["time"] as? String } == expected)
  }

  @Test(arguments: [
    (#"a"b\c"#, #"a\"b\\c"#), ("a\nb\r\tc", #"a\nb\r\tc"#), ("\r\n", #"\r\n"#),
    ("\u{0}\u{1f}", #"\u0000\u001f"#),
    ("\u{1b}[31m", #"\u001b[31m"#), ("\u{7f}\u{80}\u{9f}", #"\u007f\u0080\u009f"#),
    ("\u{2028}\u{2029}", #"\u2028\u2029"#), ("é 日本 🍏", "é 日本 🍏"), ("e\u{301}", "e\u{301}"), ("/", "/"),
    ("", ""),
  ])
  func `a text stays on its line and comes back whole`(_ text: String, _ written: String) async throws {
    let memory = Memory()
    let log = try memory.log(at: 0)
    log.info("e", [.text("t", text)])
    await log.stop()
    let line = #"{"time":"1970-01-01T00:00:00Z","level":"info","event":"e","t":""# + written + "\"}\n"
    #expect(Array(memory.text.utf8) == Array(line.utf8))
    let read = try #require(try memory.objects().first?["t"] as? String)
    #expect(Array(read.utf8) == Array(text.utf8))
  }

  @Test func `a secret in a text shows only that it is one`() async throws {
    let memory = Memory()
    let log = try memory.log(at: 0)
    log.info("e", [.text("t", "\(Secret("hunter2"))")])
    await log.stop()
    #expect(try memory.objects().first?["t"] as? String == "[secret]")
  }

  @Test func `less than the threshold is not written, and the threshold can be changed`() async throws {
    let memory = Memory()
    let log = try memory.log(at: 0, threshold: .warning)
    func reportAll() {
      log.debug("a")
      log.info("b")
      log.warning("c")
      log.error("d")
    }
    reportAll()
    log.threshold = .debug
    reportAll()
    await log.stop()
    #expect(log.threshold == .debug)
    #expect(try memory.objects().map { $0["event"] as? String } == ["c", "d", "a", "b", "c", "d"])
    #expect(
      try memory.objects().map { $0["level"] as? String }
        == ["warning", "error", "debug", "info", "warning", "error"])
  }

  @Test func `the fields of an event that is not written are not made`() async throws {
    let log = try Memory().log(at: 0, threshold: .info)
    var isMade = false
    func field() -> Log.Field {
      isMade = true
      return .flag("f", true)
    }
    log.debug("a", [field()])
    #expect(!isMade)
    log.info("a", [field()])
    #expect(isMade)
  }

  @Test func `lines of many threads are whole and none is lost`() async throws {
    let memory = Memory()
    let log = try memory.log(at: 0, capacity: 10_000)
    await withTaskGroup(of: Void.self) { group in
      for thread in 0..<10 {
        group.addTask {
          for number in 0..<500 { log.info("e", [.number("n", Int64(thread * 500 + number))]) }
        }
      }
    }
    await log.stop()
    #expect(try memory.objects().compactMap { $0["n"] as? Int }.sorted() == Array(0..<5000))
  }

  @Test func `a full inbox drops lines and a later line says how many`() async throws {
    let memory = Memory()
    memory.hold()
    let log = try memory.log(at: 0, capacity: 3)
    log.info("first")
    await memory.arrival()
    for _ in 0..<10 { log.info("more") }
    memory.release()
    await log.stop()
    let objects = try memory.objects()
    #expect(
      objects.map { $0["event"] as? String } == ["first", "more", "more", "more", "log_lines_dropped"])
    #expect(objects.last?["count"] as? Int == 7)
    #expect(objects.last?["level"] as? String == "warning")
  }

  @Test func `a stop writes the last line and what comes later is lost without harm`() async throws {
    let memory = Memory()
    let log = try memory.log(at: 0)
    log.info("last")
    await log.stop()
    log.info("late")
    await log.stop()
    #expect(try memory.objects().map { $0["event"] as? String } == ["last"])
  }

  private func timeWritten(at seconds: Int64) async throws -> String? {
    let memory = Memory()
    let log = try memory.log(at: seconds)
    log.info("e")
    await log.stop()
    return try memory.objects().first?["time"] as? String
  }
}

/// A sink that keeps what is written, and can be made to hold its writer.
final class Memory: Sendable {
  private struct State {
    var bytes: [UInt8] = []
    var isHeld = false
    var hasArrived = false
    var waiting: CheckedContinuation<Void, Never>?
  }
  private let state = Monitor(State())

  var text: String { String(decoding: state.read { $0.bytes }, as: UTF8.self) }

  func log(at seconds: Int64, threshold: Log.Level = .debug, capacity: Int = 100) throws -> Log {
    try log(clock: WallClock { UnixTime(seconds) }, threshold: threshold, capacity: capacity)
  }

  func log(clock: WallClock, threshold: Log.Level = .debug, capacity: Int) throws -> Log {
    try Log(threshold: threshold, capacity: capacity, clock: clock, sink: LogSink { self.write($0) })
  }

  /// Every line as another reader of JSON sees it.
  func objects() throws -> [[String: Any]] {
    try text.split(separator: "\n").map { line in
      try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }
  }

  func hold() { state.update { $0.isHeld = true } }

  func release() { state.update { $0.isHeld = false } }

  /// Returns when the writer has come with its first lines.
  func arrival() async {
    await withCheckedContinuation { continuation in
      let isThere = state.update { state in
        if !state.hasArrived { state.waiting = continuation }
        return state.hasArrived
      }
      if isThere { continuation.resume() }
    }
  }

  private func write(_ bytes: [UInt8]) {
    let waiting = state.update { state in
      state.bytes += bytes
      state.hasArrived = true
      return state.waiting.take()
    }
    waiting?.resume()
    _ = state.wait { $0.isHeld ? nil : true }
  }
}
