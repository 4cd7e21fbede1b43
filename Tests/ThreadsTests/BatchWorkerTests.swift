import Testing
import Threads

@Suite(.timeLimit(.minutes(3)))
struct BatchWorkerTests {
  @Test func `items are done in the order in which they were submitted`() async throws {
    let journal = Journal()
    let worker = try journal.worker(capacity: 1000)
    for number in 0..<1000 { #expect(worker.submit(number)) }
    await worker.stop()
    #expect(journal.items == Array(0..<1000))
  }

  @Test func `nothing of many producers is lost`() async throws {
    let journal = Journal()
    let worker = try journal.worker(capacity: 100_000)
    await withTaskGroup(of: Void.self) { group in
      for producer in 0..<20 {
        group.addTask { for number in 0..<500 { _ = worker.submit(producer * 500 + number) } }
      }
    }
    await worker.stop()
    #expect(journal.items.sorted() == Array(0..<10_000))
  }

  @Test func `a full inbox answers false and takes again after a batch`() async throws {
    let journal = Journal()
    let gate = Gate()
    let worker = try journal.worker(capacity: 2, gate: gate)
    #expect(worker.submit(0))
    await gate.arrival()
    #expect((1...3).map { worker.submit($0) } == [true, true, false])
    #expect(worker.waiting == 2)
    gate.open()
    while worker.waiting > 0 { await Task.yield() }
    #expect(worker.submit(4))
    await worker.stop()
    #expect(journal.items == [0, 1, 2, 4])
  }

  @Test func `a batch is all that waited while the one before was being done`() async throws {
    let journal = Journal()
    let gate = Gate()
    let worker = try journal.worker(capacity: 100, gate: gate)
    #expect(worker.submit(0))
    await gate.arrival()
    for number in 1...10 { #expect(worker.submit(number)) }
    gate.open()
    await worker.stop()
    #expect(journal.batches == [[0], Array(1...10)])
  }

  @Test func `a batch holds no more than its limit`() async throws {
    let journal = Journal()
    let gate = Gate()
    let worker = try journal.worker(capacity: 100, batchLimit: 4, gate: gate)
    #expect(worker.submit(0))
    await gate.arrival()
    for number in 1...10 { #expect(worker.submit(number)) }
    gate.open()
    await worker.stop()
    #expect(journal.batches == [[0], [1, 2, 3, 4], [5, 6, 7, 8], [9, 10]])
  }

  @Test func `a stop does what was submitted, finishes once and takes nothing more`() async throws {
    let journal = Journal()
    let gate = Gate()
    let worker = try journal.worker(capacity: 100, gate: gate)
    #expect(worker.submit(0))
    await gate.arrival()
    #expect(worker.submit(1))
    gate.open()
    await worker.stop()
    await worker.stop()
    #expect(!worker.submit(2))
    #expect(journal.items == [0, 1])
    #expect(journal.finishes == 1)
  }

  @Test func `a worker that is dropped without a stop still does what was submitted`() async throws {
    let journal = Journal()
    var worker: BatchWorker<JournalWork>? = try journal.worker(capacity: 100)
    for number in 0..<50 { #expect(worker?.submit(number) == true) }
    worker = nil
    await journal.finished()
    #expect(journal.items == Array(0..<50))
  }

  @Test func `an idle worker ticks with an empty batch`() async throws {
    let journal = Journal()
    let gate = Gate()
    let worker = try journal.worker(capacity: 1, tickMilliseconds: 1, gate: gate)
    await gate.arrival()
    gate.open()
    await worker.stop()
    #expect(journal.batches.first == [])
  }

  @Test func `a worker that gathers takes what comes meanwhile into one batch`() async throws {
    let journal = Journal()
    let worker = try journal.worker(capacity: 100, gatherMilliseconds: 1000)
    for number in 0..<10 { #expect(worker.submit(number)) }
    await worker.stop()
    #expect(journal.batches == [Array(0..<10)])
  }

  @Test func `a worker that gathers still ticks`() async throws {
    let journal = Journal()
    let worker = try journal.worker(capacity: 100, tickMilliseconds: 1, gatherMilliseconds: 1)
    while journal.batches.count < 3 { await Task.yield() }
    await worker.stop()
    #expect(journal.items == [])
  }

  @Test func `a thousand workers come and go`() async throws {
    let journal = Journal()
    for number in 0..<1000 {
      let worker = try journal.worker(capacity: 1)
      #expect(worker.submit(number))
      await worker.stop()
    }
    #expect(journal.items.count == 1000)
  }
}

/// What workers of one test did.
final class Journal: Sendable {
  private struct Entries {
    var batches: [[Int]] = []
    var finishes = 0
    var waiting: CheckedContinuation<Void, Never>?
  }
  private let entries = Monitor(Entries())

  var batches: [[Int]] { entries.update { $0.batches } }
  var items: [Int] { batches.flatMap { $0 } }
  var finishes: Int { entries.update { $0.finishes } }

  func worker(
    capacity: Int, batchLimit: Int = .max, tickMilliseconds: Int64? = nil,
    gatherMilliseconds: Int64 = 0, gate: Gate? = nil
  ) throws -> BatchWorker<JournalWork> {
    try BatchWorker(
      name: "journal", capacity: capacity, batchLimit: batchLimit, tickMilliseconds: tickMilliseconds,
      gatherMilliseconds: gatherMilliseconds,
      work: JournalWork(journal: self, gate: gate, confined: Confined()))
  }

  func add(_ batch: [Int]) { entries.update { $0.batches.append(batch) } }

  func finish() {
    let waiting = entries.update { entries in
      entries.finishes += 1
      return entries.waiting.take()
    }
    waiting?.resume()
  }

  func finished() async {
    await withCheckedContinuation { continuation in
      let isOver = entries.update { entries in
        if entries.finishes > 0 { return true }
        entries.waiting = continuation
        return false
      }
      if isOver { continuation.resume() }
    }
  }
}

/// State that only one thread may touch, as a database connection is.
final class Confined {
  var batches = 0
}

struct JournalWork: BatchWork, ~Copyable {
  let journal: Journal
  let gate: Gate?
  let confined: Confined

  mutating func perform(_ items: [Int]) {
    confined.batches += 1
    gate?.pass()
    journal.add(items)
  }

  mutating func finish() { journal.finish() }
}

/// Holds a worker's thread until a test lets it go on.
final class Gate: Sendable {
  private struct State {
    var isOpen = false
    var hasArrived = false
    var waiting: CheckedContinuation<Void, Never>?
  }
  private let state = Monitor(State())

  /// Called by the thread; comes back when the gate is open.
  func pass() {
    let waiting = state.update { state in
      state.hasArrived = true
      return state.waiting.take()
    }
    waiting?.resume()
    _ = state.wait { $0.isOpen ? true : nil }
  }

  /// Returns when the thread stands at the gate.
  func arrival() async {
    await withCheckedContinuation { continuation in
      let isThere = state.update { state in
        if !state.hasArrived { state.waiting = continuation }
        return state.hasArrived
      }
      if isThere { continuation.resume() }
    }
  }

  func open() { state.update { $0.isOpen = true } }
}
