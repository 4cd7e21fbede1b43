internal import Domain
internal import Sessions
internal import Settings
internal import Storage
internal import Synchronization
internal import Telemetry
internal import Wire

/// Tells the app's back end what has happened to accounts.
///
/// Every node does. What one has begun is marked in the database before it is sent, so no other begins it; it comes due
/// again when the node has died. While the back end takes nothing, one event a second is tried, whatever waits; the first
/// that it takes opens all places again.
struct WebhookWorker: Sendable {
  let target: Settings.Webhook
  let storage: any Storage
  let fetcher: any HTTPFetching
  let clock: WallClock
  let entropy: Entropy
  let metrics: WebhookMetrics
  let log: Log
  private let bell = Bell()
  private let pace = Pace()

  init(
    target: Settings.Webhook, storage: any Storage, fetcher: any HTTPFetching, clock: WallClock,
    entropy: Entropy, metrics: WebhookMetrics, log: Log
  ) {
    self.target = target
    self.storage = storage
    self.fetcher = fetcher
    self.clock = clock
    self.entropy = entropy
    self.metrics = metrics
    self.log = log
  }

  /// Seconds after which an attempt that was begun comes due again: longer than any takes.
  private static let claimSeconds: Int64 = 20
  /// Milliseconds to a connection, and to the end of an answer.
  private static let (connectMilliseconds, totalMilliseconds) = (Int64(3000), Int64(10_000))
  /// Bytes of an answer. Nobody reads it.
  private static let answerBytes = 64 * 1024

  /// Works until it is cancelled.
  func run() async {
    let timer = Task { [bell] in
      repeat { bell.ring() } while (try? await Task.sleep(for: .seconds(1))) != nil
    }
    await withDiscardingTaskGroup { group in
      var counted: UnixTime?
      var isBlind = false
      for await _ in bell.rings {
        do throws(StorageError) {
          let now = clock.now()
          if counted.map({ !(0..<5).contains(now.since($0)) }) ?? true {
            metrics.show(try await storage.webhookCounts())
            counted = now
          }
          for event in try await begin(at: now) { group.addTask { await deliver(event) } }
          isBlind = false
        } catch {
          if !isBlind { log.warning("webhooks_unreadable", [.text("cause", "\(error)")]) }
          isBlind = true
        }
      }
    }
    timer.cancel()
  }

  private func begin(at now: UnixTime) async throws(StorageError) -> [WebhookEvent] {
    let free = pace.free
    guard free > 0, let due = try await storage.firstWebhookDate(), due <= now else { return [] }
    let begun = try await storage.beginWebhooks(limit: free, until: now + Self.claimSeconds, at: now)
    pace.take(begun.count)
    return begun
  }

  private func deliver(_ event: WebhookEvent) async {
    let (fault, wait) = await attempt(event)
    let now = clock.now()
    let result: WebhookResult
    if let fault {
      // Not the receiver's fault: the next start goes on with it.
      let isStop = fault == "shutting_down"
      result = .failed(
        fault: fault, until: isStop ? now : event.nextAttempt(jitter: jitter, wait: wait, after: now))
    } else {
      result = .delivered
    }
    var fate: WebhookFate?
    do throws(StorageError) {
      fate = try await storage.settle(event, result, at: now)
    } catch {
      // It comes due again and is sent once more, under the same id.
      log.warning("webhook_outcome_lost", [.text("cause", "\(error)")])
    }
    if fate == .dead { log.error("webhook_given_up", [.text("id", event.id.text)]) }
    metrics.count(fault, fate)
    if pace.leave(isTaken: fault == nil) {
      if let fault {
        log.warning("webhooks_not_taken", [.text("cause", fault)])
      } else {
        log.info("webhooks_taken")
      }
    }
    if fault == nil { bell.ring() }
  }

  /// Sends an event once.
  ///
  /// - Returns: Nil when it was taken; otherwise what it met, out of a bounded set of words, and for how many seconds the
  ///   back end wants no other.
  private func attempt(_ event: WebhookEvent) async -> (fault: String?, wait: Int64) {
    let request = FetchRequest(
      method: .post, url: target.url, headers: event.headers(signedBy: target.key, at: clock.now()),
      body: event.body, connectMilliseconds: Self.connectMilliseconds,
      totalMilliseconds: Self.totalMilliseconds, bodyLimit: Self.answerBytes)
    do throws(FetchError) {
      let answer = try await fetcher.fetch(request)
      let wait = secondsToWait(retryAfter: answer.retryAfter, now: answer.date)
      return (WebhookMetrics.word(status: answer.status), wait ?? 0)
    } catch {
      return (WebhookMetrics.word(error), 0)
    }
  }

  /// From 0 to 1.
  private var jitter: Double { Double(entropy.bytes(1).first ?? 0) / 255 }
}

/// How many attempts may be under way at a time, which follows from what came of the last ones.
private final class Pace: Sendable {
  private static let limit = 8
  private let state = Mutex((taken: 0, isRefused: false))

  var free: Int { state.withLock { ($0.isRefused ? 1 : Self.limit) - $0.taken } }

  func take(_ count: Int) { state.withLock { $0.taken += count } }

  /// Returns whether this is news: that the back end takes events, or that it does not.
  func leave(isTaken: Bool) -> Bool {
    state.withLock { state in
      state.taken -= 1
      defer { state.isRefused = !isTaken }
      return state.isRefused == isTaken
    }
  }
}
