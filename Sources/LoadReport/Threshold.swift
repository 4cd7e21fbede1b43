/// What may be asked of a report, by the name that the command line has for it.
package enum Metric: String, Sendable, CaseIterable {
  case p50, p90, p99
  case p999 = "p99.9"
  case p9999 = "p99.99"
  case max, errors, rate, late, cpu, memory, ratio

  /// What its values are, and so how a limit is written.
  enum Unit: Sendable {
    case duration, share, perSecond, milliseconds, bytes, plain
  }

  var unit: Unit {
    switch self {
    case .p50, .p90, .p99, .p999, .p9999, .max: .duration
    case .errors, .late: .share
    case .rate: .perSecond
    case .cpu: .milliseconds
    case .memory: .bytes
    case .ratio: .plain
    }
  }
}

extension RunReport {
  /// The value of a metric; nil when it was not measured. Counts are absolute.
  package func value(of metric: Metric) -> Double? {
    switch metric {
    case .p50: Double(response.percentile(50))
    case .p90: Double(response.percentile(90))
    case .p99: Double(response.percentile(99))
    case .p999: Double(response.percentile(99.9))
    case .p9999: Double(response.percentile(99.99))
    case .max: Double(response.maximum)
    case .errors: Double(counts.failed + counts.unanswered)
    case .late: Double(counts.late + counts.unsent)
    case .rate: rate
    // Microseconds of one request are milliseconds of a thousand.
    case .cpu: server?.microsecondsPerRequest
    case .memory: server?.peakBytes.map(Double.init)
    case .ratio: ratio
    }
  }
}

/// A text that is no threshold.
package struct ThresholdError: Error, Equatable, Sendable {
  /// What would be right, for a person.
  package let message: String
}

/// A condition under which a run counts as failed, such as `p99>20ms`, `errors>0.1%` or `rate<5000/s`.
package struct Threshold: Sendable, Equatable {
  private enum Relation: String, CaseIterable, Sendable {
    // The longer ones first, so that they are found first.
    case atLeast = ">="
    case atMost = "<="
    case above = ">"
    case below = "<"

    func holds(_ a: Double, _ b: Double) -> Bool {
      switch self {
      case .atLeast: a >= b
      case .atMost: a <= b
      case .above: a > b
      case .below: a < b
      }
    }
  }

  /// As it was written.
  package let text: String
  package let metric: Metric
  private let relation: Relation
  private let limit: Double
  private let isShare: Bool

  package init(_ text: String) throws(ThresholdError) {
    let bare = text.filter { $0 != " " }
    guard let sign = bare.firstIndex(where: { $0 == "<" || $0 == ">" }),
      let relation = Relation.allCases.first(where: { bare[sign...].hasPrefix($0.rawValue) }),
      let metric = Metric(rawValue: String(bare[..<sign]))
    else {
      let names = Metric.allCases.map(\.rawValue).joined(separator: ", ")
      throw ThresholdError(message: "`\(text)` is not METRIC>LIMIT or METRIC<LIMIT with one of \(names)")
    }
    let value = bare[sign...].dropFirst(relation.rawValue.count)
    guard let (limit, isShare) = limitNumber(value, of: metric.unit) else {
      throw ThresholdError(message: "`\(text)`: \(example(of: metric.unit))")
    }
    self.text = text
    self.metric = metric
    self.relation = relation
    self.limit = limit
    self.isShare = isShare
  }

  /// Why the run failed by this; nil when it did not. What was not measured fails.
  package func failure(of report: RunReport) -> String? {
    guard let value = report.value(of: metric) else { return "\(text): \(metric.rawValue) was not measured" }
    let all = Double(max(report.counts.answered, 1))
    let measured = isShare ? value / all * 100 : value
    guard relation.holds(measured, limit) else { return nil }
    return "\(text): it was \(words(of: metric, isShare ? nil : value) ?? decimal(measured, 3) + "%")"
  }
}

private func limitNumber(_ text: Substring, of unit: Metric.Unit) -> (Double, Bool)? {
  func number(_ suffixes: [(String, Double)]) -> (Double, Bool)? {
    for (suffix, factor) in suffixes where text.hasSuffix(suffix) {
      if let number = decimalNumber(text.dropLast(suffix.count)) { return (number * factor, suffix == "%") }
    }
    return nil
  }
  switch unit {
  case .duration: return durationNumber(text).map { (Double($0), false) }
  case .share: return number([("%", 1), ("", 1)])
  case .perSecond: return number([("/s", 1), ("", 1)])
  case .milliseconds: return number([("ms", 1)])
  case .bytes: return number([("GB", 1e9), ("MB", 1e6), ("kB", 1e3)])
  case .plain: return number([("", 1)])
  }
}

private func example(of unit: Metric.Unit) -> String {
  switch unit {
  case .duration: "a duration with its unit is needed, such as 20ms"
  case .share: "a count or a share is needed, such as 0 or 0.1%"
  case .perSecond: "a rate is needed, such as 5000/s"
  case .milliseconds: "CPU time of a thousand requests is needed, such as 150ms"
  case .bytes: "a size is needed, such as 120MB"
  case .plain: "a number is needed, such as 1.5"
  }
}

/// A metric's value for a person.
func words(of metric: Metric, _ value: Double?) -> String? {
  guard let value else { return nil }
  return switch metric.unit {
  case .duration: durationText(Int(value))
  case .share: String(Int(value))
  case .perSecond: decimal(value, 1) + "/s"
  case .milliseconds: decimal(value, 1) + " ms"
  case .bytes: decimal(value / 1e6, 1) + " MB"
  case .plain: decimal(value, 2)
  }
}

/// Two reports beside each other, metric by metric.
///
/// - Returns: Lines for a person: each metric with both values and the change from the first to the second.
package func comparison(_ a: RunReport, _ b: RunReport) -> String {
  var lines = ["A: \(a.workload), \(a.load)", "B: \(b.workload), \(b.load)"]
  if a.workload != b.workload || a.load != b.load {
    lines.append("The two did not do the same: what follows compares different things.")
  }
  lines.append("           " + column("A", 14) + column("B", 14) + column("change", 10))
  for metric in Metric.allCases {
    guard let first = a.value(of: metric), let second = b.value(of: metric) else { continue }
    let change = first == 0 ? (second == 0 ? "0.0%" : "new") : signed((second / first - 1) * 100)
    let name = metric.rawValue + String(repeating: " ", count: 11 - metric.rawValue.count)
    lines.append(
      name + column(words(of: metric, first) ?? "", 14) + column(words(of: metric, second) ?? "", 14)
        + column(change, 10))
  }
  return lines.joined(separator: "\n")
}

private func signed(_ percent: Double) -> String { (percent >= 0 ? "+" : "") + decimal(percent, 1) + "%" }
