internal import Foundation

// How people sign out, and how the service comes to know.

/// How far the service has been told of sessions that are over here.
///
/// One task at a time tells, and looks again for as long as others have called meanwhile; after an outage one task at a
/// time waits to begin anew. So whatever was noted before a call is told by somebody after it.
struct Telling: Sendable {
  private var isUnderWay = false
  /// Whether somebody has called since the store was last looked at.
  private var isCalledFor = false
  /// Whether a task waits to begin anew.
  private var isAwaited = false

  /// Notes a call.
  ///
  /// - Returns: Whether the caller is the one who tells; else somebody does.
  mutating func begin() -> Bool {
    defer { (isUnderWay, isCalledFor) = (true, true) }
    return !isUnderWay
  }

  /// - Returns: Whether who tells is to look at the store, once more; else it is done.
  mutating func goesOn() -> Bool {
    defer { isCalledFor = false }
    isUnderWay = isCalledFor
    return isCalledFor
  }

  /// - Returns: Whether the caller is the one who waits to begin anew.
  mutating func putOff() -> Bool {
    defer { isAwaited = true }
    return !isAwaited
  }

  /// Notes that the wait is over.
  mutating func beginAnew() { isAwaited = false }
}

extension SessionKeeper {
  /// Signs out here at once, and tells the service as soon as it can be reached.
  ///
  /// - Parameters:
  ///   - uid: Who; nil for whom the app was shown last, or whoever is there if it was shown nobody. Somebody else who has
  ///     taken the place by another process stays, and listeners are told of them.
  ///   - isGone: Whether the service knows already.
  func signOut(_ uid: String? = nil, isGone: Bool = false) throws {
    let uid = uid ?? memory.withLock { $0.current?.uid }
    try change { $0.leave(uid, isGone: isGone) }
    Task { await tellEndings() }
  }

  /// Tells the service of sessions that are over here. After an outage it is tried again, less and less often, for as long as
  /// the process runs.
  ///
  /// - Parameter pause: Seconds to wait after an outage.
  func tellEndings(pause: TimeInterval = 2) async {
    guard memory.withLock({ $0.telling.begin() }) else { return }
    var isOutage = false
    while memory.withLock({ $0.telling.goesOn() }) { isOutage = await tellAll() }
    guard isOutage, memory.withLock({ $0.telling.putOff() }) else { return }
    Task { [weak self, world] in
      try? await world.sleep(pause * (1 + world.chance() / 4))
      self?.memory.withLock { $0.telling.beginAnew() }
      await self?.tellEndings(pause: min(pause * 2, 60))
    }
  }

  /// - Returns: Whether an outage left some untold.
  private func tellAll() async -> Bool {
    var isOutage = false
    for token in (try? read().endings) ?? [] {
      do throws(CallFault) {
        try await endpoint.answer(to: .signOut(token)).isNothing()
      } catch {
        if case .unanswered = error { return true }
        // The service's trouble may be with this one.
        isOutage = isOutage || error.isOutage
        // Any other no may be taken back, as one to an API key: the session lives on, and is told of another time.
        guard error.isOfEndedSession else { continue }
      }
      try? change { $0.told(token) }
    }
    return isOutage
  }
}
