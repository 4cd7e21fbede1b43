internal import AppleIdentity
internal import Domain
internal import Sessions
internal import Storage
internal import Synchronization
internal import Telemetry

/// Asks of Apple what the queue holds, and looks at each refresh token once a day.
///
/// Every node does both. What one has begun is marked in the database before it is sent, so no other begins it; it comes
/// due again when the node has died. The bell rings when there is something new, when a call is over, and every second
/// for what others wrote and for what has come due.
struct AppleWorker: Sendable {
  let calls: AppleCalls
  let storage: any Storage
  let watch: SessionWatch
  let access: AppleAccess
  let bell: Bell
  let clock: WallClock
  let metrics: AppleMetrics
  let log: Log

  /// Calls at a time.
  private static let callLimit = 8
  /// Looks at a time.
  private static let lookLimit = 4
  /// Seconds after which a call that was begun comes due again: longer than any takes, its answer's checks included.
  private static let claimSeconds: Int64 = 20
  /// Seconds for which nobody looks at tokens when Apple says that it is too much, and how long it may ask for at most.
  private static let (pauseSeconds, longestPause) = (Int64(900), Int64(86_400))

  /// Works until it is cancelled.
  func run() async {
    await adopt()
    let (work, looks) = (Places(Self.callLimit), Places(Self.lookLimit))
    let timer = Task { [bell] in
      repeat { bell.ring() } while (try? await Task.sleep(for: .seconds(1))) != nil
    }
    await withDiscardingTaskGroup { group in
      var nextCount: UnixTime?
      var isBlind = false
      for await _ in bell.rings {
        do throws(StorageError) {
          let now = clock.now()
          let agenda = try await storage.appleAgenda()
          if nextCount.map({ $0 <= now }) ?? true { nextCount = now + (try await count(agenda)) }
          for item in try await begin(agenda, places: work, at: now) {
            // Not cancelled with the worker: a call that breaks off may have used up its code.
            group.addTask { await Task { await perform(item, work) }.value }
          }
          for grant in try await claim(agenda, places: looks, at: now) {
            group.addTask { await look(at: grant, looks) }
          }
          isBlind = false
        } catch {
          if !isBlind { log.warning("apple_queue_unreadable", [.text("cause", "\(error)")]) }
          isBlind = true
        }
      }
    }
    timer.cancel()
  }

  /// Writes their team to what an earlier version kept without one.
  private func adopt() async {
    guard let team = access.terms.firstTeam else { return }
    do throws(StorageError) {
      while try await storage.adoptAppleSecrets(for: team, limit: Limits.adoptedSecrets) > 0 {}
    } catch {
      log.warning("apple_queue_unreadable", [.text("cause", "\(error)")])
    }
  }

  /// Counts what waits, for who measures.
  ///
  /// - Returns: Seconds after which it is counted again: the more there is, the longer it takes.
  private func count(_ agenda: AppleAgenda) async throws(StorageError) -> Int64 {
    let counts = try await storage.appleWorkCounts()
    metrics.show(counts, agenda)
    return 5 + Int64(counts.reduce(0) { $0 + $1.count } / 10_000)
  }

  private func begin(
    _ agenda: AppleAgenda, places: Places, at now: UnixTime
  ) async throws(StorageError) -> [AppleWork] {
    guard access.terms.hasKey, let due = agenda.workDueAt, due <= now, places.free > 0 else { return [] }
    let begun = try await storage.beginAppleWork(
      limit: places.free, until: now + Self.claimSeconds, at: now)
    places.take(begun.count)
    return begun
  }

  private func claim(
    _ agenda: AppleAgenda, places: Places, at now: UnixTime
  ) async throws(StorageError) -> [AppleGrant] {
    guard access.terms.hasKey, let due = agenda.grantDueAt, due <= now, places.free > 0,
      agenda.pausedUntil.map({ $0 <= now }) ?? true
    else { return [] }
    let claimed = try await storage.claimAppleGrants(limit: places.free, at: now)
    places.take(claimed.count)
    return claimed
  }

  private func perform(_ work: AppleWork, _ places: Places) async {
    let result = await calls.outcome(of: work)
    await written("apple_outcome_lost") { () throws(StorageError) in
      try await storage.settle(AppleWorkSettlement(work: work, result: result, now: clock.now()))
    }
    metrics.count(result)
    places.leave()
    bell.ring()
  }

  private func look(at grant: AppleGrant, _ places: Places) async {
    let askedAt = clock.now()
    switch await calls.verdict(on: grant) {
    case .success(let verdict)?:
      await written("apple_verdict_lost") { () throws(StorageError) in
        let isNews = try await storage.report(
          AppleGrantReport(
            grant: grant, verdict: verdict, askedAt: askedAt, endsSessions: access.terms.endsSessions,
            now: clock.now()))
        if isNews { await watch.followOwnWrite() }
      }
      metrics.count(revalidation: verdict == .good ? "good" : "revoked")
    case .failure(.throttled(let seconds))?:
      let pause = min(max(seconds ?? 0, Self.pauseSeconds), Self.longestPause)
      await written("apple_pause_lost") { () throws(StorageError) in
        try await storage.pauseAppleGrants(until: clock.now() + pause)
      }
      metrics.count(revalidation: "throttled")
    case .failure?, nil: metrics.count(revalidation: "unknown")
    }
    places.leave()
    bell.ring()
  }

  private func written(_ event: StaticString, _ write: () async throws(StorageError) -> Void) async {
    do throws(StorageError) {
      try await patiently(write)
    } catch {
      log.error(event, [.text("cause", "\(error)")])
    }
  }
}

/// How many may be under way at a time.
private final class Places: Sendable {
  private let limit: Int
  private let taken = Mutex(0)

  init(_ limit: Int) { self.limit = limit }

  var free: Int { taken.withLock { limit - $0 } }
  func take(_ count: Int) { taken.withLock { $0 += count } }
  func leave() { taken.withLock { $0 -= 1 } }
}
