internal import Domain
internal import Storage
internal import Synchronization
internal import Telemetry

/// What deliveries to the app's back end are measured by.
struct WebhookMetrics: Sendable {
  private let attempts: CounterSet
  private let dead: Counter
  private let waiting = Waiting()

  private final class Waiting: Sendable {
    let counts = Mutex(WebhookCounts(waiting: 0, dead: 0, oldest: nil))
  }

  private static let faults = [
    "status_3xx", "status_4xx", "status_5xx", "status_other", "address_not_allowed", "could_not_connect",
    "tls_failed", "timed_out", "body_too_large", "broken",
    "shutting_down",
  ]

  init(_ registry: Metrics, clock: WallClock) {
    attempts = registry.counters(
      "bramley_webhook_attempts_total",
      help: "Attempts to deliver an event to the app's back end by outcome: delivered, or what went wrong.",
      label: "outcome", values: ["delivered"] + Self.faults)
    dead = registry.counter(
      "bramley_webhooks_given_up_total", help: "Events for the app's back end that were given up.")
    let waiting = waiting
    registry.gauge("bramley_webhook_queue_depth", help: "Events that the app's back end has not taken yet.") {
      Double(waiting.counts.withLock { $0.waiting })
    }
    registry.gauge("bramley_webhook_dead_letters", help: "Events that were given up and can be sent again.") {
      Double(waiting.counts.withLock { $0.dead })
    }
    registry.gauge(
      "bramley_webhook_queue_oldest_seconds", help: "Since the oldest event happened that waits."
    ) {
      waiting.counts.withLock { $0.oldest }.map { Double(max(clock.now().since($0), 0)) } ?? 0
    }
  }

  func show(_ counts: WebhookCounts) { waiting.counts.withLock { $0 = counts } }

  /// - Parameters:
  ///   - fault: Nil when it was taken.
  ///   - fate: Nil when that could not be written.
  func count(_ fault: String?, _ fate: WebhookFate?) {
    attempts.add(fault ?? "delivered")
    if fate == .dead { dead.add() }
  }

  /// An answer in a word; nil for one that says that the event was taken.
  static func word(status: Int) -> String? {
    switch status {
    case 200..<300: nil
    case 300..<400: "status_3xx"
    case 400..<500: "status_4xx"
    case 500..<600: "status_5xx"
    default: "status_other"
    }
  }

  /// A fault of the transfer in a word.
  static func word(_ error: FetchError) -> String {
    switch error {
    case .addressNotAllowed: "address_not_allowed"
    case .couldNotConnect: "could_not_connect"
    case .tlsFailed: "tls_failed"
    case .timedOut: "timed_out"
    case .bodyTooLarge: "body_too_large"
    case .broken: "broken"
    case .shuttingDown: "shutting_down"
    }
  }
}
