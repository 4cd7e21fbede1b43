internal import Foundation

// How people sign out, and how the service comes to know.

/// How far the service has been told of sessions that are over here.
struct Telling: Sendable {
  var isUnderWay = false
  /// Whether there may be something that was not looked at yet.
  var hasNews = false
  /// Whether it is to be tried again in a while.
  var isPutOff = false
}

extension SessionKeeper {
  /// Signs out here at once, and tells the service as soon as it can be reached.
  ///
  /// - Parameters:
  ///   - uid: Who; nil for whoever is signed in as far as this process knows.
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
    let isFirst = memory.withLock { memory in
      defer { (memory.telling.isUnderWay, memory.telling.hasNews) = (true, true) }
      return !memory.telling.isUnderWay
    }
    guard isFirst else { return }
    var isOutage = false
    while memory.withLock({ memory in
      defer { memory.telling.hasNews = false }
      memory.telling.isUnderWay = memory.telling.hasNews
      return memory.telling.hasNews
    }) { isOutage = await tellAll() }
    guard isOutage else { return }
    let isMine = memory.withLock { memory in
      defer { memory.telling.isPutOff = true }
      return !memory.telling.isPutOff
    }
    guard isMine else { return }
    Task { [weak self, world] in
      try? await world.sleep(pause * (1 + world.chance() / 4))
      self?.memory.withLock { $0.telling.isPutOff = false }
      await self?.tellEndings(pause: min(pause * 2, 60))
    }
  }

  /// - Returns: Whether an outage left some untold.
  private func tellAll() async -> Bool {
    for token in (try? read().endings) ?? [] {
      do throws(CallFault) {
        try await endpoint.answer(to: .signOut(token)).isNothing()
      } catch {
        if error.isOutage { return true }
        // Any other no may be taken back, as one to an API key: the session lives on, and is told of another time.
        guard error.isOfEndedSession else { continue }
      }
      try? change { $0.endings.removeAll { $0 == token } }
    }
    return false
  }
}
