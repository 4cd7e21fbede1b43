internal import AppleIdentity
internal import Domain
internal import Storage
internal import Synchronization
internal import Telemetry

/// What calls to Apple are measured by.
struct AppleMetrics: Sendable {
  private let calls: CounterSet
  private let work: CounterSet
  private let revalidations: CounterSet
  private let waiting = Waiting()

  private final class Waiting: Sendable {
    let state = Mutex<(counts: [AppleWorkCount], agenda: AppleAgenda?)>(([], nil))
  }

  init(_ registry: Metrics, clock: WallClock) {
    calls = registry.counters(
      "bramley_apple_calls_total",
      help:
        "Calls to Apple's token and revocation endpoints by outcome: answered, what went wrong, or brought_refused "
        + "where that was something that an app brought.",
      label: "outcome", values: ["answered", "brought_refused"] + AppleFault.allCases.map(\.label))
    work = registry.counters(
      "bramley_apple_work_total",
      help: "Work of the queue by what became of it: exchanged, revoked, postponed, or why it was given up.",
      label: "outcome",
      values: ["exchanged", "revoked", "postponed"] + AppleSurrender.allCases.map(\.rawValue))
    revalidations = registry.counters(
      "bramley_apple_revalidations_total",
      help: "Looks at refresh tokens of Apple's by what came of them.", label: "outcome",
      values: ["good", "revoked", "throttled", "unknown"])
    let waiting = waiting
    func gauges(_ name: String, help: String, _ value: @escaping @Sendable (AppleWorkCount?) -> Double) {
      registry.add(name, help: help, kind: .gauge) {
        let counts = waiting.state.withLock { $0.counts }
        return AppleWork.Kind.allCases.map { kind in
          Sample(labels: [("kind", kind.rawValue)], value: value(counts.first { $0.kind == kind }))
        }
      }
    }
    gauges("bramley_apple_queue_depth", help: "Calls to Apple that wait, by kind.") { Double($0?.count ?? 0) }
    gauges(
      "bramley_apple_queue_oldest_seconds", help: "Since the oldest call to Apple that waits was asked for."
    ) { count in
      count.map { Double(max(clock.now().since($0.oldest), 0)) } ?? 0
    }
    registry.gauge(
      "bramley_apple_revalidation_lag_seconds",
      help: "By how much the refresh token that waits longest for its daily look is overdue."
    ) {
      let agenda = waiting.state.withLock { $0.agenda }
      return agenda.map { agenda in Double(agenda.grantDueAt.map { max(clock.now().since($0), 0) } ?? 0) }
    }
  }

  func show(_ counts: [AppleWorkCount], _ agenda: AppleAgenda) {
    waiting.state.withLock { $0 = (counts, agenda) }
  }

  func countRefusalOfBrought() { calls.add("brought_refused") }
  func count(_ fault: AppleFault?) { calls.add(fault?.label ?? "answered") }

  func count(_ result: AppleWorkResult) {
    switch result {
    case .exchanged: work.add("exchanged")
    case .revoked: work.add("revoked")
    case .postponed: work.add("postponed")
    case .dropped(let word): work.add(word)
    }
  }

  func count(revalidation outcome: String) { revalidations.add(outcome) }
}
