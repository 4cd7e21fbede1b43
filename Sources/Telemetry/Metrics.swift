internal import Synchronization

/// What is counted and measured, and its text form for Prometheus (text exposition format 0.0.4).
///
/// Names, helps and label values are fixed when a family is made, never taken from a request: the number of series
/// is known at the start.
package final class Metrics: Sendable {
  private let families = Mutex<[MetricFamily]>([])

  package init() {}

  /// A counter.
  package func counter(_ name: String, help: String) -> Counter {
    let counter = Counter()
    add(name, help: help, kind: .counter) { [Sample(value: Double(counter.value))] }
    return counter
  }

  /// A counter for each value of one label.
  package func counters(_ name: String, help: String, label: String, values: [String]) -> CounterSet {
    let set = CounterSet(values)
    add(name, help: help, kind: .counter) {
      set.counters.sorted { $0.key < $1.key }.map { value, counter in
        Sample(labels: [(label, value)], value: Double(counter.value))
      }
    }
    return set
  }

  /// A value that is read when it is asked for.
  package func gauge(_ name: String, help: String, read: @escaping @Sendable () -> Double?) {
    add(name, help: help, kind: .gauge) { read().map { [Sample(value: $0)] } ?? [] }
  }

  /// A count that something else keeps.
  package func counter(_ name: String, help: String, read: @escaping @Sendable () -> Double?) {
    add(name, help: help, kind: .counter) { read().map { [Sample(value: $0)] } ?? [] }
  }

  /// A histogram.
  package func histogram(_ name: String, help: String, bounds: [Double]) -> Histogram {
    let histogram = Histogram(bounds: bounds)
    add(name, help: help, kind: .histogram) { histogram.samples(labels: []) }
    return histogram
  }

  /// A family whose samples are made when they are asked for.
  package func add(
    _ name: String, help: String, kind: MetricKind, collect: @escaping @Sendable () -> [Sample]
  ) {
    let family = MetricFamily(name: name, help: help, kind: kind, collect: collect)
    families.withLock { $0.append(family) }
  }

  /// All families as text.
  package func text() -> [UInt8] {
    var out: [UInt8] = []
    for family in families.withLock({ $0 }) { family.append(to: &out) }
    return out
  }
}

/// What kind of numbers a family holds.
package enum MetricKind: String, Sendable {
  case counter, gauge, histogram
}

/// One number of a family.
package struct Sample: Sendable {
  /// Follows the family's name: `_bucket`, `_sum`, `_count`, or nothing.
  let suffix: String
  let labels: [(name: String, value: String)]
  let value: Double

  package init(suffix: String = "", labels: [(name: String, value: String)] = [], value: Double) {
    self.suffix = suffix
    self.labels = labels
    self.value = value
  }
}

/// A count that only rises.
package final class Counter: Sendable {
  private let count = Atomic<Int64>(0)

  package init() {}

  package var value: Int64 { count.load(ordering: .relaxed) }

  /// Counts on.
  package func add(_ number: Int64 = 1) { count.add(number, ordering: .relaxed) }
}

/// A counter for each of a fixed set of label values.
package struct CounterSet: Sendable {
  fileprivate let counters: [String: Counter]

  package init(_ values: [String]) {
    counters = Dictionary(values.map { ($0, Counter()) }) { first, _ in first }
  }

  /// Counts one; a value that was not foreseen is not counted, so that no series is made by accident.
  package func add(_ value: String) { counters[value]?.add() }

  /// What was counted under each label, without those that counted nothing.
  package var counted: [String: Int64] { counters.mapValues(\.value).filter { $0.value > 0 } }

  /// What was counted under a label; nothing for one that was not named at the start.
  package func value(_ label: String) -> Int64 { counters[label]?.value ?? 0 }
}

/// How often a measure fell below each of some bounds.
package final class Histogram: Sendable {
  private let bounds: [Double]
  /// One more than bounds: the last is for what lies above them all.
  private let buckets: [Counter]
  /// In millionths, since a whole number can be added to without a lock.
  private let sum = Counter()

  /// - Parameter bounds: Upper bounds in base units, rising.
  package init(bounds: [Double]) {
    self.bounds = bounds
    buckets = (0...bounds.count).map { _ in Counter() }
  }

  /// Takes one measurement in.
  package func observe(_ value: Double) {
    buckets[bounds.firstIndex { value <= $0 } ?? bounds.count].add()
    sum.add(Int64((value * 1_000_000).rounded()))
  }

  /// The samples of this histogram; the bucket counts are cumulative.
  package func samples(labels: [(name: String, value: String)]) -> [Sample] {
    var total: Int64 = 0
    var samples: [Sample] = []
    for (index, bucket) in buckets.enumerated() {
      total += bucket.value
      let bound = index < bounds.count ? numberText(bounds[index]) : "+Inf"
      samples.append(Sample(suffix: "_bucket", labels: labels + [("le", bound)], value: Double(total)))
    }
    samples.append(Sample(suffix: "_sum", labels: labels, value: Double(sum.value) / 1_000_000))
    samples.append(Sample(suffix: "_count", labels: labels, value: Double(total)))
    return samples
  }
}

private struct MetricFamily: Sendable {
  let name: String
  let help: String
  let kind: MetricKind
  let collect: @Sendable () -> [Sample]

  func append(to out: inout [UInt8]) {
    let samples = collect()
    guard !samples.isEmpty else { return }
    out.append(contentsOf: "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n".utf8)
    for sample in samples {
      let labels = sample.labels.map { "\($0.name)=\"\($0.value)\"" }.joined(separator: ",")
      let braces = labels.isEmpty ? "" : "{\(labels)}"
      out.append(contentsOf: "\(name)\(sample.suffix)\(braces) \(numberText(sample.value))\n".utf8)
    }
  }
}

/// A number without a needless fraction.
private func numberText(_ value: Double) -> String {
  Int64(exactly: value).map { String($0) } ?? String(value)
}
