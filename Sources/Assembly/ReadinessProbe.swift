internal import Storage
internal import Synchronization

/// Whether the database does what a sign-in needs (see ``Storage/probe()``), asked at most every two seconds however often
/// a stranger asks: the write costs a sync of the disk. No answer within two seconds is none.
final class ReadinessProbe: Sendable {
  private let storage: any Storage
  private let memory = Mutex(ProbeMemory())

  init(storage: any Storage) { self.storage = storage }

  /// The present answer, or the last one while it is fresh or another request is asking.
  func isReady() async -> Bool {
    if let known = memory.withLock({ $0.answer(at: .now) }) { return known }
    await waiting(atMost: ProbeMemory.patience) { [self] in
      let isThere = (try? await storage.probe()) != nil
      memory.withLock { $0.note(isThere, at: .now) }
    }
    return memory.withLock { $0.last(at: .now) }
  }
}
