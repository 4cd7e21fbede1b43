package import Domain
internal import Synchronization
package import Threads

/// Where events are reported: one JSON line each.
///
/// ```json
/// {"time":"2026-11-30T02:51:02Z","level":"info","event":"ready","listen":"127.0.0.1:8080"}
/// ```
package final class Log: Sendable {
  /// How much an event matters; less than the threshold is not written.
  package enum Level: UInt8, Comparable, Sendable, CaseIterable {
    case debug, info, warning, error

    package static func < (a: Level, b: Level) -> Bool { a.rawValue < b.rawValue }
  }

  /// One value of an event. None takes a ``Domain/Secret``: what is secret would have to be revealed by name.
  package enum Field: Sendable {
    case text(StaticString, String)
    case number(StaticString, Int64)
    case flag(StaticString, Bool)
  }

  private let clock: WallClock
  private let lowest: Atomic<UInt8>
  private let lost: LostLines
  private let writer: BatchWorker<LineWriter>

  /// Starts the thread that writes.
  ///
  /// - Parameters:
  ///   - threshold: The lowest level that is written.
  ///   - capacity: The most events that may wait to be written; further ones are dropped and counted.
  ///   - clock: Read once an event, by whoever reports it.
  ///   - sink: Where the lines go.
  package init(threshold: Level, capacity: Int, clock: WallClock, sink: LogSink) throws(ThreadError) {
    let lost = LostLines()
    writer = try BatchWorker(
      name: "log", capacity: capacity, batchLimit: 1024, tickMilliseconds: nil, gatherMilliseconds: 5,
      work: LineWriter(clock: clock, sink: sink, lost: lost))
    self.clock = clock
    self.lost = lost
    lowest = Atomic(threshold.rawValue)
  }

  /// The lowest level that is written; may be changed while the program runs.
  package var threshold: Level {
    get { Level(rawValue: lowest.load(ordering: .relaxed)) ?? .info }
    set { lowest.store(newValue.rawValue, ordering: .relaxed) }
  }

  /// Reports what only helps to find a fault.
  package func debug(_ event: StaticString, _ fields: @autoclosure () -> [Field] = []) {
    report(.debug, event, fields)
  }

  /// Reports what is as it should be.
  package func info(_ event: StaticString, _ fields: @autoclosure () -> [Field] = []) {
    report(.info, event, fields)
  }

  /// Reports what an operator should look at some time.
  package func warning(_ event: StaticString, _ fields: @autoclosure () -> [Field] = []) {
    report(.warning, event, fields)
  }

  /// Reports what an operator should look at now.
  package func error(_ event: StaticString, _ fields: @autoclosure () -> [Field] = []) {
    report(.error, event, fields)
  }

  /// How many events were dropped since the start because the inbox was full.
  package var droppedLines: Int64 { lost.total }

  /// Writes what waits and ends the thread; what is reported later is lost.
  package func stop() async {
    await writer.stop()
  }

  /// Does what ``stop()`` does, but waits no longer than `patience`: whoever reads the lines may have stopped
  /// reading, and a program has to end all the same.
  package func stop(within patience: Duration) async {
    let (ends, end) = AsyncStream<Void>.makeStream()
    Task.detached {
      await self.stop()
      end.finish()
    }
    Task.detached {
      try? await Task.sleep(for: patience)
      end.finish()
    }
    for await _ in ends {}
  }

  private func report(_ level: Level, _ event: StaticString, _ fields: () -> [Field]) {
    guard level.rawValue >= lowest.load(ordering: .relaxed) else { return }
    let entry = LogEntry(time: clock.now(), level: level, event: event, fields: fields())
    if !writer.submit(entry) { lost.add() }
  }
}

/// One event on its way to the writer.
struct LogEntry: Sendable {
  let time: UnixTime
  let level: Log.Level
  let event: StaticString
  let fields: [Log.Field]
}

/// How many events the inbox had no room for since the last line that said so.
final class LostLines: Sendable {
  private let count = Atomic<Int64>(0)
  private let sum = Atomic<Int64>(0)

  /// Since the start.
  var total: Int64 { sum.load(ordering: .relaxed) }

  func add() {
    count.add(1, ordering: .relaxed)
    sum.add(1, ordering: .relaxed)
  }

  func take() -> Int64 { count.exchange(0, ordering: .relaxed) }
}

/// What the log's thread does: lines out of entries, a batch in one write.
struct LineWriter: BatchWork {
  private let clock: WallClock
  private let sink: LogSink
  private let lost: LostLines
  private var format = LineFormat()

  init(clock: WallClock, sink: LogSink, lost: LostLines) {
    self.clock = clock
    self.sink = sink
    self.lost = lost
  }

  mutating func perform(_ items: [LogEntry]) {
    for entry in items { format.append(entry) }
    reportLost()
    write()
  }

  mutating func finish() {
    // A full inbox is emptied after it was full, so this is only for what was dropped at the very end.
    reportLost()
    write()
  }

  private mutating func reportLost() {
    let count = lost.take()
    guard count > 0 else { return }
    format.append(
      LogEntry(
        time: clock.now(), level: .warning, event: "log_lines_dropped", fields: [.number("count", count)]))
  }

  private mutating func write() {
    let lines = format.takeLines()
    if !lines.isEmpty { sink.write(lines) }
  }
}
