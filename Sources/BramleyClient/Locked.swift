internal import Foundation

/// A value behind a lock. The standard library's `Mutex` would do, but wants iOS 18.
// The value is reached through the lock only.
final class Locked<Value: Sendable>: @unchecked Sendable {
  private let lock = NSLock()
  private var value: Value

  init(_ value: Value) { self.value = value }

  /// Reads or changes the value while nobody else does. The body must not wait for anything.
  func withLock<R, E: Error>(_ body: (inout Value) throws(E) -> R) throws(E) -> R {
    lock.lock()
    defer { lock.unlock() }
    return try body(&value)
  }

  /// A copy.
  var current: Value { withLock { $0 } }
}
