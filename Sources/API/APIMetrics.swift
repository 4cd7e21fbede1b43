package import Domain
package import Telemetry
internal import ProviderTokens
internal import Storage
internal import Synchronization

/// What the API counts. Every label value comes from a route table or an enum, never from a request.
package final class APIMetrics: Sendable {
  private let requests: [String: [Int: Counter]]
  private let durations: [String: Histogram]
  private let signIns: CounterSet
  private let refreshes: CounterSet
  private let notifications: CounterSet
  private let handOvers: CounterSet
  let unknownKeyIDs: Counter
  let lateRepeats: Counter
  let reuses: Counter
  private let record: Mutex<ActivityRecord>

  /// - Parameter startedAt: When this node began to count.
  package init(_ metrics: Metrics, startedAt: UnixTime) {
    let statuses = Set(FailureReason.allCases.map(\.row.status) + [200, 204, 304, 401]).sorted()
    let names = (RouteName.allCases.map(\.rawValue) + ["none", "preflight"]).sorted()
    let requests = Dictionary(
      uniqueKeysWithValues: names.map { name in
        (name, Dictionary(uniqueKeysWithValues: statuses.map { ($0, Counter()) }))
      })
    let bounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
    let durations = Dictionary(uniqueKeysWithValues: names.map { ($0, Histogram(bounds: bounds)) })
    metrics.add("bramley_requests_total", help: "Requests by route and status.", kind: .counter) {
      names.flatMap { name in
        statuses.compactMap { status in
          guard let count = requests[name]?[status]?.value, count > 0 else { return nil }
          return Sample(labels: [("route", name), ("code", String(status))], value: Double(count))
        }
      }
    }
    metrics.add(
      "bramley_request_duration_seconds", help: "From a complete head to the answer, by route.",
      kind: .histogram
    ) {
      names.flatMap { name in durations[name]?.samples(labels: [("route", name)]) ?? [] }
    }
    let reasons = FailureReason.allCases.map(\.rawValue)
    signIns = metrics.counters(
      "bramley_sign_ins_total",
      help: "Sign-ins by outcome: new_account, returning, repeated, or the reason of a refusal.",
      label: "outcome", values: reasons + ["new_account", "returning", "repeated"])
    refreshes = metrics.counters(
      "bramley_refreshes_total", help: "Refreshes by outcome: refreshed, or the reason of a refusal.",
      label: "outcome", values: reasons + ["refreshed"])
    notifications = metrics.counters(
      "bramley_apple_notifications_total",
      help:
        "Events that Apple told of, by outcome: applied, stale, other_address, unknown_subject, unknown_type; and notifications "
        + "that were a duplicate or refused, by the reason.",
      label: "outcome",
      values: IdentityTokenRefusal.allCases.map { FailureReason($0).rawValue }
        + AppleEventOutcome.allCases.map(\.rawValue) + ["duplicate"])
    handOvers = metrics.counters(
      "bramley_firebase_hand_overs_total",
      help:
        "Sessions taken over from Firebase by outcome: handed_over, repeated, or the reason of a refusal.",
      label: "outcome", values: reasons + ["handed_over", "repeated"])
    unknownKeyIDs = metrics.counter(
      "bramley_apple_unknown_key_ids_total", help: "Tokens that named a key which Apple does not publish.")
    lateRepeats = metrics.counter(
      "bramley_refresh_late_repeats_total", help: "Refresh tokens that came again long after their rotation.")
    reuses = metrics.counter(
      "bramley_refresh_token_reuses_total", help: "Sessions ended because an old refresh token came back.")
    self.requests = requests
    self.durations = durations
    record = Mutex(ActivityRecord(since: startedAt))
  }

  /// Notes what was counted since the last time, as of this minute.
  package func noteActivity(at now: UnixTime) { _ = activity(at: now) }

  /// What happened in each of the last minutes, up to now.
  func activity(at now: UnixTime) -> ActivityRecord {
    record.withLock { record in
      record.take(ActivityCounts(signIns: signIns.counted, refreshes: refreshes.counted), at: now)
      return record
    }
  }

  func count(route: String, status: Int, seconds: Double?) {
    requests[route]?[status]?.add()
    if let seconds { durations[route]?.observe(seconds) }
  }

  func countSignIn(_ outcome: String) { signIns.add(outcome) }
  func countHandOver(_ outcome: String) { handOvers.add(outcome) }
  func countNotification(_ outcome: String) { notifications.add(outcome) }
  func countRefresh(_ outcome: String) { refreshes.add(outcome) }
}
