internal import Synchronization

/// What the connections of an engine find, and who is told when the database goes or comes back.
package final class AvailabilityWatch: Sendable {
  private let state = Mutex(Availability())
  private let tell: @Sendable (StorageNews) -> Void

  /// - Parameter tell: Is called on the engine's own threads.
  package init(tell: @escaping @Sendable (StorageNews) -> Void) { self.tell = tell }

  /// Takes in what a connection found; see ``Availability/note(_:on:at:)``.
  package func note(_ trouble: StorageTrouble?, on connection: Int) {
    if let news = state.withLock({ $0.note(trouble, on: connection, at: .now) }) { tell(news) }
  }

  /// Takes in that a commit was refused for want of room; see ``Availability/noteFull(on:at:)``.
  package func noteFull(on connection: Int) {
    if let news = state.withLock({ $0.noteFull(on: connection, at: .now) }) { tell(news) }
  }

  /// See ``Availability/lacksRoom(at:)``.
  package var lacksRoom: Bool { state.withLock { $0.lacksRoom(at: .now) } }
}
