public import Foundation

/// Where the kit keeps what must outlive the app's process: one value of a few kilobytes, which lets whoever reads it in.
///
/// ``KeychainStore`` and ``FileStore`` are there; ``MemoryStore`` is for tests and previews. Several processes may share
/// one, such as an app and its extensions.
public protocol SessionStore: Sendable {
  /// Reads the value, lets it be changed, and writes it if it was; nil stands for none. What was written is there after a
  /// crash. Nobody else changes it in between, as far as the store can see to that; where somebody did, the body may be run
  /// once more on what is there then.
  ///
  /// - Throws: When the value cannot be read or written, which is not the same as that there is none.
  func update<R>(_ body: (inout Data?) throws -> R) throws -> R

  /// The value. The kit reads it about once a second while the app asks who is signed in, also on the main thread.
  ///
  /// - Throws: When it cannot be read.
  func read() throws -> Data?

  /// Whether what ``read()`` failed with may pass by itself, as the lock of a device that was not unlocked yet does: until
  /// then listeners are told nothing. After anything else they are told that nobody is signed in.
  func mayPass(_ fault: any Error) -> Bool

  /// Runs work that no other process with the same store does at the same time: a refresh. It waits for them, but not for
  /// ever, since a session stands two refreshes at once.
  func alone<R: Sendable>(_ body: @Sendable () async throws -> R) async throws -> R
}

extension SessionStore {
  /// By an update that changes nothing.
  public func read() throws -> Data? { try update { $0 } }

  /// Everything may.
  public func mayPass(_ fault: any Error) -> Bool { true }

  /// Without a lock between processes. The kit reads the store before and after it refreshes, and the service gives two
  /// who refresh at once the same successor.
  public func alone<R: Sendable>(_ body: @Sendable () async throws -> R) async throws -> R {
    try await body()
  }
}

/// Keeps the value for as long as the process runs.
public final class MemoryStore: SessionStore {
  private let value = Locked<Data?>(nil)

  /// An empty one.
  public init() {}

  /// Reads and changes the value.
  public func update<R>(_ body: (inout Data?) throws -> R) throws -> R {
    try value.withLock { value throws(any Error) in try body(&value) }
  }
}
