internal import Synchronization

/// A cache whose size is bounded: when the young half is full, the old half goes and the young one grows old. What is
/// asked for stays; what nobody asked for while a half filled up goes.
final class GenerationCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private struct Halves {
    var young: [Key: Value] = [:]
    var old: [Key: Value] = [:]
  }

  private let halves = Mutex(Halves())
  private let halfCount: Int

  /// - Parameter count: The most that is kept.
  init(atMost count: Int) {
    halfCount = max(count / 2, 1)
  }

  subscript(key: Key) -> Value? {
    halves.withLock { halves in
      if let value = halves.young[key] { return value }
      guard let value = halves.old.removeValue(forKey: key) else { return nil }
      insert(value, for: key, into: &halves)
      return value
    }
  }

  func insert(_ value: Value, for key: Key) {
    halves.withLock { insert(value, for: key, into: &$0) }
  }

  func remove(_ key: Key) {
    halves.withLock { halves in
      halves.young[key] = nil
      halves.old[key] = nil
    }
  }

  func removeAll(where isGone: (Value) -> Bool) {
    halves.withLock { halves in
      halves.young = halves.young.filter { !isGone($0.value) }
      halves.old = halves.old.filter { !isGone($0.value) }
    }
  }

  func removeAll() { halves.withLock { $0 = Halves() } }

  private func insert(_ value: Value, for key: Key, into halves: inout Halves) {
    if halves.young.count >= halfCount, halves.young[key] == nil {
      halves.old = halves.young
      halves.young = [:]
    }
    halves.young[key] = value
  }
}
