extension RunReport {
  /// The report for a person at a terminal.
  package var text: String {
    var lines = ["\(workload) against \(target): \(load)"]
    if isClosedLoop {
      lines.append(
        "Closed loop: nothing is sent while an answer is awaited, so a stall of the server hides what it delayed."
      )
    }
    lines.append("")
    lines.append(
      "answered   \(counts.answered) in \(decimal(seconds, 2)) s, \(decimal(rate, 1))/s over \(connections) connections"
    )
    lines.append(
      "           \(counts.good) as expected, \(counts.failed) not; \(counts.late) sent late, \(counts.unsent) unsent, "
        + "\(counts.unanswered) unanswered")
    lines += refusals.sorted { $0.count > $1.count }.map { refusal in
      "           \(refusal.count) × \(refusal.label)\(refusal.isExpected ? ", as expected" : "")"
    }
    lines += latencyLines + costLines + stepLines
    lines += broken.map { "BROKEN     \($0)" } + warnings.map { "warning    \($0)" }
    return lines.joined(separator: "\n")
  }

  private var latencyLines: [String] {
    let heads = shownPercentiles.map(\.name) + ["max"]
    func line(_ name: String, _ histogram: Histogram) -> String {
      let values = shownPercentiles.map { histogram.percentile($0.percent) } + [histogram.maximum]
      return name + values.map { column(durationText($0), 11) }.joined()
    }
    var lines = ["", "           " + heads.map { column($0, 11) }.joined()]
    if !isClosedLoop { lines.append(line("response   ", response)) }
    lines.append(line("service    ", service))
    lines.append(
      isClosedLoop
        ? "service: from sending to the answer"
        : "response: from the intended time to the answer; service: from the real time of sending to the answer"
    )
    return lines
  }

  private var costLines: [String] {
    var lines = [
      "",
      "client     \(decimal(client.microsecondsPerRequest, 1)) µs CPU per request, busiest thread "
        + "\(decimal(client.busiest * 100, 0))%",
    ]
    if let server {
      var parts: [String] = []
      if let cost = server.microsecondsPerRequest {
        parts.append("\(decimal(cost / 1000, 4)) CPU seconds per 1,000 requests")
      }
      if let bytes = server.peakBytes { parts.append("peak memory \(decimal(Double(bytes) / 1e6, 1)) MB") }
      if let bytes = server.idleBytes { parts.append("idle \(decimal(Double(bytes) / 1e6, 1)) MB") }
      if let ready = server.readyMilliseconds { parts.append("ready after \(decimal(ready, 1)) ms") }
      lines.append("server     " + parts.joined(separator: ", "))
    }
    if let floor {
      let parts = floor.parts.map { "\($0.name) \(decimal($0.microseconds, 1))" }.joined(separator: " + ")
      lines.append("floor      \(decimal(floor.microseconds, 1)) µs = \(parts)")
    }
    if let ratio, let cost = server?.microsecondsPerRequest {
      lines.append(
        "ratio      \(decimal(ratio, 2)): the server's \(decimal(cost, 1)) µs divided by the floor")
    }
    return lines
  }

  private var stepLines: [String] {
    guard !steps.isEmpty else { return [] }
    return ["", "search for the knee:"]
      + steps.map {
        "  \(column(decimal($0.rate, 0), 8))/s  p99 \(column(durationText($0.p99), 10))  \($0.isHeld ? "held" : "not held")"
      }
  }

  /// Two lines: the names of the columns, and this run.
  package var csv: String {
    var cells: [(String, String)] = [
      ("workload", workload), ("load", quoted(load)), ("seconds", decimal(seconds, 3)),
      ("answered", "\(counts.answered)"), ("good", "\(counts.good)"), ("failed", "\(counts.failed)"),
      ("late", "\(counts.late)"), ("unsent", "\(counts.unsent)"), ("unanswered", "\(counts.unanswered)"),
      ("rate", decimal(rate, 3)),
    ]
    for (prefix, histogram) in [("response", response), ("service", service)] {
      cells += shownPercentiles.map { ("\(prefix)_\($0.name)_ns", "\(histogram.percentile($0.percent))") }
      cells.append(("\(prefix)_max_ns", "\(histogram.maximum)"))
    }
    cells += [
      ("client_us", decimal(client.microsecondsPerRequest, 3)),
      ("server_us", server?.microsecondsPerRequest.map { decimal($0, 3) } ?? ""),
      ("server_peak_bytes", server?.peakBytes.map(String.init) ?? ""),
      ("floor_us", floor.map { decimal($0.microseconds, 3) } ?? ""),
      ("ratio", ratio.map { decimal($0, 3) } ?? ""),
    ]
    return cells.map(\.0).joined(separator: ",") + "\n" + cells.map(\.1).joined(separator: ",") + "\n"
  }
}

extension Refusal {
  var label: String { status == 0 ? reason : reason.isEmpty ? "\(status)" : "\(status) \(reason)" }
}

/// A field of a CSV line (RFC 4180 §2).
private func quoted(_ text: String) -> String {
  "\"" + text.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
}
