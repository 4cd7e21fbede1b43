package import Wire

/// The percentiles that reports show.
let shownPercentiles: [(name: String, percent: Double)] = [
  ("p50", 50), ("p75", 75), ("p90", 90), ("p99", 99), ("p99.9", 99.9), ("p99.99", 99.99),
]

extension JSONWriter {
  mutating func member(_ name: String, decimal value: Double?, _ places: Int = 3) {
    if let value { member(name, json: decimal(value, places).utf8) }
  }
}

extension RunReport {
  /// One JSON object; durations in nanoseconds.
  package var json: [UInt8] {
    var out = JSONWriter(reserving: 32 * 1024)
    out.member("workload", workload)
    out.member("load", load)
    out.member("closedLoop", isClosedLoop)
    out.member("target", target)
    out.member("startedAt", startedAt)
    out.member("seconds", decimal: seconds)
    out.member("connections", Int64(connections))
    out.member("threads", Int64(threads))
    out.member("rate", decimal: rate)
    out.object("counts") { counts.write(to: &$0) }
    out.object("response") { response.write(to: &$0) }
    out.object("service") { service.write(to: &$0) }
    out.member("refusals", jsonArray: refusals.map(\.json))
    out.member("timeline", jsonArray: timeline.map(\.json))
    out.object("client") { out in
      out.member("microsecondsPerRequest", decimal: client.microsecondsPerRequest)
      out.member("busiest", decimal: client.busiest)
    }
    if let server { out.object("server") { server.write(to: &$0) } }
    if let floor { out.member("floor", jsonArray: floor.parts.map(\.json)) }
    out.member("ratio", decimal: ratio)
    out.member("broken", broken)
    out.member("warnings", warnings)
    out.member("steps", jsonArray: steps.map(\.json))
    return out.finish()
  }

  /// Reads what ``json`` wrote.
  ///
  /// - Returns: Nil when it is no report.
  package init?(_ object: JSONObject) {
    guard let workload = object.text("workload"), let load = object.text("load"),
      case .flag(let isClosedLoop) = object["closedLoop"], let target = object.text("target"),
      let startedAt = object.whole("startedAt"), let seconds = object.decimal("seconds"),
      let connections = object.whole("connections"), let threads = object.whole("threads"),
      let counts = object.inner("counts"), let response = object.inner("response"),
      let service = object.inner("service")
    else { return nil }
    self.init(
      workload: workload, load: load, isClosedLoop: isClosedLoop, target: target, startedAt: Int64(startedAt),
      seconds: seconds, connections: connections, threads: threads)
    self.counts = Counts(counts)
    self.response = Histogram(response)
    self.service = Histogram(service)
    refusals = object.objects("refusals").map(Refusal.init)
    timeline = object.objects("timeline").map {
      Second(answered: $0.whole("answered") ?? 0, worst: $0.whole("worst") ?? 0)
    }
    if let client = object.inner("client") {
      self.client.microsecondsPerRequest = client.decimal("microsecondsPerRequest") ?? 0
      self.client.busiest = client.decimal("busiest") ?? 0
    }
    server = object.inner("server").map(ServerUse.init)
    if object["floor"] != nil {
      floor = Floor(
        parts: object.objects("floor").map {
          Floor.Part(name: $0.text("name") ?? "", microseconds: $0.decimal("microseconds") ?? 0)
        })
    }
    broken = object.texts("broken")
    warnings = object.texts("warnings")
    steps = object.objects("steps").map {
      Step(rate: $0.decimal("rate") ?? 0, p99: $0.whole("p99") ?? 0, isHeld: $0["held"].isTrue)
    }
  }
}

extension Counts {
  fileprivate func write(to out: inout JSONWriter) {
    out.member("answered", Int64(answered))
    out.member("good", Int64(good))
    out.member("failed", Int64(failed))
    out.member("late", Int64(late))
    out.member("unsent", Int64(unsent))
    out.member("unanswered", Int64(unanswered))
  }

  fileprivate init(_ object: JSONObject) {
    good = object.whole("good") ?? 0
    failed = object.whole("failed") ?? 0
    late = object.whole("late") ?? 0
    unsent = object.whole("unsent") ?? 0
    unanswered = object.whole("unanswered") ?? 0
  }
}

extension Histogram {
  fileprivate func write(to out: inout JSONWriter) {
    for (name, percent) in shownPercentiles { out.member(name, Int64(percentile(percent))) }
    out.member("max", Int64(maximum))
    out.member("mean", decimal: mean)
    // Each cell as its largest value and its count, from which the histogram can be made again.
    out.member("cells", jsonArray: cells.map { Array("[\($0.upperEnd),\($0.count)]".utf8) })
  }

  fileprivate init(_ object: JSONObject) {
    self.init()
    guard case .array(let cells) = object["cells"] else { return }
    for cell in cells {
      if case .array(let pair) = cell, pair.count == 2, case .integer(let value) = pair[0],
        case .integer(let count) = pair[1], (0...(1 << 50)).contains(count)
      {
        record(Int(value), times: Int(count))
      }
    }
  }
}

extension Refusal {
  fileprivate var json: [UInt8] {
    var out = JSONWriter(reserving: 96)
    out.member("status", Int64(status))
    out.member("reason", reason)
    out.member("count", Int64(count))
    out.member("expected", isExpected)
    return out.finish()
  }

  fileprivate init(_ object: JSONObject) {
    self.init(
      status: object.whole("status") ?? 0, reason: object.text("reason") ?? "",
      count: object.whole("count") ?? 0, isExpected: object["expected"].isTrue)
  }
}

extension Second {
  fileprivate var json: [UInt8] { Array("{\"answered\":\(answered),\"worst\":\(worst)}".utf8) }
}

extension ServerUse {
  fileprivate func write(to out: inout JSONWriter) {
    out.member("microsecondsPerRequest", decimal: microsecondsPerRequest)
    if let peakBytes { out.member("peakBytes", Int64(peakBytes)) }
    if let idleBytes { out.member("idleBytes", Int64(idleBytes)) }
    out.member("readyMilliseconds", decimal: readyMilliseconds)
  }

  fileprivate init(_ object: JSONObject) {
    microsecondsPerRequest = object.decimal("microsecondsPerRequest")
    peakBytes = object.whole("peakBytes")
    idleBytes = object.whole("idleBytes")
    readyMilliseconds = object.decimal("readyMilliseconds")
  }
}

extension Floor.Part {
  fileprivate var json: [UInt8] {
    var out = JSONWriter(reserving: 64)
    out.member("name", name)
    out.member("microseconds", decimal: microseconds)
    return out.finish()
  }
}

extension Step {
  fileprivate var json: [UInt8] {
    var out = JSONWriter(reserving: 64)
    out.member("rate", decimal: rate)
    out.member("p99", Int64(p99))
    out.member("held", isHeld)
    return out.finish()
  }
}

extension JSONObject {
  fileprivate func whole(_ name: String) -> Int? {
    guard case .integer(let number) = self[name] else { return nil }
    return Int(number)
  }

  fileprivate func decimal(_ name: String) -> Double? {
    switch self[name] {
    case .integer(let number): Double(number)
    case .real(let number): number
    default: nil
    }
  }

  fileprivate func inner(_ name: String) -> JSONObject? {
    if case .object(let object) = self[name] { object } else { nil }
  }

  fileprivate func objects(_ name: String) -> [JSONObject] {
    guard case .array(let values) = self[name] else { return [] }
    return values.compactMap { if case .object(let object) = $0 { object } else { nil } }
  }

  fileprivate func texts(_ name: String) -> [String] {
    guard case .array(let values) = self[name] else { return [] }
    return values.compactMap { if case .text(let text) = $0 { text } else { nil } }
  }
}

extension JSONValue? {
  fileprivate var isTrue: Bool { if case .flag(true) = self { true } else { false } }
}
