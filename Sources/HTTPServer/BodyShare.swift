internal import Synchronization

/// What one request's body takes of the memory for all bodies; dropping it gives it back.
final class BodyShare: Sendable {
  private let core: ListenerCore
  private let bytes = Atomic<Int>(0)

  init(of core: ListenerCore) {
    self.core = core
  }

  deinit { core.bodyBytes.subtract(bytes.load(ordering: .relaxed), ordering: .relaxed) }

  /// Takes more; false, and nothing taken, when there is not as much left.
  func grow(by count: Int) -> Bool {
    let total = core.bodyBytes.add(count, ordering: .relaxed).newValue
    if total > core.configuration.bodyMemoryLimit {
      core.bodyBytes.subtract(count, ordering: .relaxed)
      return false
    }
    bytes.add(count, ordering: .relaxed)
    return true
  }
}
