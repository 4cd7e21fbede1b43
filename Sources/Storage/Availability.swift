/// What keeps a database from answering.
package enum StorageTrouble: Sendable, Equatable {
  /// No server can be reached, or none that takes us in.
  case unreachable
  /// A server is there and does not answer in time.
  case silent
  /// It takes no writes.
  case readOnly
  /// There is no room left.
  case full
  /// Somebody else holds what is to be changed.
  case held
  /// What is in it is damaged, or not by this program.
  case damaged
  /// It says no for another reason.
  case refused
}

/// What an operator is told of a database.
package enum StorageNews: Sendable, Equatable {
  case lost(StorageTrouble)
  case back(after: Duration)
}

/// Whether a database answers, as each of its connections found last; decides what is told of it.
///
/// It is lost when one connection finds trouble, and back when all have been without any for a while. A database that
/// comes and goes has to be well for longer each time, so that it is told of less and less often.
///
/// Where there is no room, what fits into pages that are there is written all the same, a probe for one: that a commit was
/// refused for want of it counts for a while, whatever was written since.
package struct Availability: Sendable {
  private static let doubt = Duration.seconds(5)
  private static let shortestCalm = Duration.seconds(1)
  private static let longestCalm = Duration.seconds(60)

  private var troubled: Set<Int> = []
  /// When it was told to be lost; nil while it is there.
  private var lostAt: ContinuousClock.Instant?
  /// Since when no connection has had trouble.
  private var calmSince: ContinuousClock.Instant?
  private var backAt: ContinuousClock.Instant?
  /// How long it has to be well before that is told.
  private var calm = shortestCalm
  /// When a commit was refused for want of room.
  private var fullAt: ContinuousClock.Instant?

  /// Begins with a database that is there.
  package init() {}

  /// Takes in what a connection found, at the latest a moment later: an engine says so also of one that nobody uses.
  ///
  /// - Parameters:
  ///   - trouble: Nil when there is none.
  ///   - connection: Tells it from the engine's others.
  package mutating func note(
    _ trouble: StorageTrouble?, on connection: Int, at now: ContinuousClock.Instant
  ) -> StorageNews? {
    if let trouble {
      troubled.insert(connection)
      calmSince = nil
      guard lostAt == nil else { return nil }
      let isFlapping = backAt.map { now - $0 < Self.longestCalm } ?? false
      calm = isFlapping ? min(calm * 2, Self.longestCalm) : Self.shortestCalm
      lostAt = now
      return .lost(trouble)
    }
    troubled.remove(connection)
    guard let lostAt, troubled.isEmpty, !lacksRoom(at: now) else { return nil }
    let since = calmSince ?? now
    calmSince = since
    guard now - since >= calm else { return nil }
    (self.lostAt, calmSince, backAt) = (nil, nil, now)
    return .back(after: since - lostAt)
  }

  /// Takes in that a commit was refused for want of room. What is committed beside it does not undo that.
  package mutating func noteFull(on connection: Int, at now: ContinuousClock.Instant) -> StorageNews? {
    fullAt = now
    return note(.full, on: connection, at: now)
  }

  /// Whether a commit was refused for want of room a moment ago, so that the next may be.
  package func lacksRoom(at now: ContinuousClock.Instant) -> Bool {
    fullAt.map { now - $0 < Self.doubt } ?? false
  }
}
