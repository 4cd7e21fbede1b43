internal import Glibc
internal import Synchronization

/// Work that is done in batches on a thread of its own.
///
/// A conforming type may own what must stay on one thread, such as a database connection: after it is handed
/// to a ``BatchWorker``, only that thread touches it.
package protocol BatchWork: ~Copyable, SendableMetatype {
  associatedtype Item: Sendable

  /// Does the items in the order in which they were submitted.
  ///
  /// - Parameter items: Empty for a tick; at most the worker's batch limit.
  mutating func perform(_ items: [Item])

  /// Ends the work, after the last item and before the thread ends.
  mutating func finish()
}

/// One thread, one bounded inbox, and the work that empties it in batches.
///
/// As a rule it takes everything that waits and never waits for more: alone, an item is done at once; under load,
/// what arrives while a batch is being done is the next batch. That is the loop of a group commit. A worker whose
/// items nobody waits for may gather for a moment instead, which spares its thread and the submitters a wake-up each.
package final class BatchWorker<Work: BatchWork & ~Copyable>: Sendable {
  private let inbox: Monitor<Inbox<Work.Item>>
  private let thread: DedicatedThread

  /// Starts the thread.
  ///
  /// - Parameters:
  ///   - name: The thread's name; the system keeps its first 15 bytes.
  ///   - capacity: The most items that may wait; those of the batch being done don't count.
  ///   - batchLimit: The most items of one batch.
  ///   - tickMilliseconds: After this long without an item the work gets an empty batch; nil for never.
  ///   - gatherMilliseconds: How long the first item of a batch waits for others.
  ///   - work: Given away to the thread.
  package init(
    name: String, capacity: Int, batchLimit: Int, tickMilliseconds: Int64?, gatherMilliseconds: Int64 = 0,
    work: consuming sending Work
  ) throws(ThreadError) {
    precondition(capacity > 0 && batchLimit > 0, "a worker that can take nothing")
    let inbox = Monitor(Inbox<Work.Item>(capacity: capacity))
    let handover = Handover(work)
    thread = try DedicatedThread(name: name) {
      guard var work = handover.take() else { return }
      let rhythm = Rhythm(
        limit: batchLimit, tickMilliseconds: tickMilliseconds, gatherMilliseconds: gatherMilliseconds)
      runBatches(of: &work, from: inbox, rhythm)
    }
    self.inbox = inbox
  }

  deinit {
    // Dropped without a stop: the thread does what waits and ends by itself.
    inbox.update { $0.close() }
  }

  /// Puts an item behind those that wait; never blocks.
  ///
  /// - Returns: False when the inbox is full or the worker has been stopped; the item is then not done.
  package func submit(_ item: Work.Item) -> Bool {
    inbox.update { $0.add(item) }
  }

  /// The number of items that wait, without those of the batch being done.
  package var waiting: Int { inbox.read { $0.items.count } }

  /// Takes no more items, does those that wait, and ends the thread; may be called more than once.
  package func stop() async {
    inbox.update { $0.close() }
    await thread.ended()
  }
}

/// What waits to be done.
private struct Inbox<Item: Sendable>: Sendable {
  let capacity: Int
  var items: [Item] = []
  var isOpen = true

  init(capacity: Int) {
    self.capacity = capacity
  }

  mutating func close() {
    isOpen = false
  }

  mutating func add(_ item: Item) -> Bool {
    guard isOpen, items.count < capacity else { return false }
    items.append(item)
    return true
  }

  /// Whether more may come to the items that wait; nil while none waits.
  var isGathering: Bool? {
    guard isOpen else { return false }
    return items.isEmpty ? nil : true
  }

  /// The next batch; nil while there is none and more may come.
  mutating func takeBatch(limit: Int) -> Batch<Item>? {
    guard !items.isEmpty else { return isOpen ? nil : .last }
    guard items.count > limit else {
      defer { items = [] }
      return .some(items)
    }
    defer { items.removeFirst(limit) }
    return .some(Array(items.prefix(limit)))
  }
}

/// What the thread does next.
private enum Batch<Item: Sendable>: Sendable {
  case some([Item])
  case last
}

/// A value on its way from one thread to another.
private final class Handover<Value: ~Copyable>: Sendable {
  private let value: Mutex<Value?>

  init(_ value: consuming sending Value) {
    self.value = Mutex(value)
  }

  func take() -> sending Value? {
    value.withLock { held in
      let taken = held.take()
      return taken
    }
  }
}

/// How large batches are, and when they are taken.
private struct Rhythm: Sendable {
  let limit: Int
  let tickMilliseconds: Int64?
  let gatherMilliseconds: Int64
}

/// The loop of a worker's thread.
private func runBatches<Work: BatchWork & ~Copyable>(
  of work: inout Work, from inbox: Monitor<Inbox<Work.Item>>, _ rhythm: Rhythm
) {
  while true {
    if rhythm.gatherMilliseconds > 0,
      inbox.wait(atMost: rhythm.tickMilliseconds, for: { $0.isGathering }) == true
    {
      // Not a wait on the inbox: every further item would end it.
      pause(milliseconds: rhythm.gatherMilliseconds)
    }
    switch inbox.wait(atMost: rhythm.tickMilliseconds, for: { $0.takeBatch(limit: rhythm.limit) }) {
    case .none:
      work.perform([])
    case .some(.last):
      work.finish()
      return
    case .some(.some(let items)):
      work.perform(items)
    }
  }
}

private func pause(milliseconds: Int64) {
  var time = timespec(tv_sec: Int(milliseconds / 1000), tv_nsec: Int(milliseconds % 1000) * 1_000_000)
  unsafe nanosleep(&time, nil)
}
