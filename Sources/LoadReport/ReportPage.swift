extension RunReport {
  /// One page with charts, which needs nothing from anywhere.
  package var html: String {
    let title = escaped("\(workload): \(load)")
    return """
      <!DOCTYPE html>
      <html lang="en"><head><meta charset="utf-8"><title>\(title)</title>
      <style>
      body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}
      pre{background:#f4f4f4;padding:1rem;overflow-x:auto;font-size:13px}
      svg{width:100%;height:auto} text{font:12px system-ui,sans-serif;fill:#444}
      @media (prefers-color-scheme:dark){body{color:#ddd;background:#161616}pre{background:#222}text{fill:#bbb}}
      </style></head><body>
      <h1>\(title)</h1>
      <h2>Time by percentile</h2>
      \(percentileChart)
      <h2>Answers in each second</h2>
      \(timelineChart)
      <h2>Figures</h2>
      <pre>\(escaped(text))</pre>
      </body></html>

      """
  }

  /// Both times over the percentile, whose axis stretches towards 100 % as HdrHistogram's plots do.
  private var percentileChart: String {
    let places = [0.0, 50, 75, 90, 95, 99, 99.5, 99.9, 99.95, 99.99]
    // Each step to the right is a factor in the share that is slower.
    func x(_ percent: Double) -> Double { 60 + 780 * nines(percent) / nines(99.99) }
    let highest = Double(max(response.percentile(99.99), service.percentile(99.99), 1))
    func y(_ value: Int) -> Double { 260 - 230 * Double(value) / highest }
    func points(_ histogram: Histogram) -> [(Double, Double)] {
      places.map { (x($0), y(histogram.percentile($0))) }
    }
    var shapes = axes(highest: durationText(Int(highest)))
    for percent in [0.0, 50, 90, 99, 99.9, 99.99] {
      shapes += label(x(percent), 280, "\(decimal(percent, percent > 99 ? 2 : 0))%", anchor: "middle")
    }
    if !isClosedLoop {
      shapes +=
        line(points(response), color: "#c2410c")
        + label(70, 20, "response (from the intended time)", color: "#c2410c")
    }
    shapes +=
      line(points(service), color: "#1d4ed8")
      + label(70, 36, "service (from the real time)", color: "#1d4ed8")
    return chart(shapes)
  }

  private var timelineChart: String {
    guard !timeline.isEmpty else { return "<p>The run was shorter than a second.</p>" }
    let most = Double(max(timeline.map(\.answered).max() ?? 1, 1))
    let width = 780 / Double(timeline.count)
    var shapes = axes(highest: "\(Int(most))/s")
    for (index, second) in timeline.enumerated() {
      let height = 230 * Double(second.answered) / most
      shapes +=
        "<rect x=\"\(decimal(60 + Double(index) * width, 1))\" y=\"\(decimal(260 - height, 1))\" "
        + "width=\"\(decimal(max(width - 1, 0.5), 1))\" height=\"\(decimal(height, 1))\" fill=\"#1d4ed8\">"
        + "<title>second \(index + 1): \(second.answered) answers, worst \(durationText(second.worst))</title></rect>"
    }
    shapes += label(60, 280, "0 s") + label(840, 280, "\(timeline.count) s", anchor: "end")
    return chart(shapes)
  }
}

/// How many halvings of the rest lie below a percentile.
private func nines(_ percent: Double) -> Double {
  var rest = (100 - percent) / 100
  var halvings = 0.0
  while rest <= 0.5 {
    rest *= 2
    halvings += 1
  }
  return halvings + (1 - rest) * 2
}

private func chart(_ shapes: String) -> String {
  "<svg viewBox=\"-20 0 900 290\" role=\"img\">\(shapes)</svg>"
}

private func axes(highest: String) -> String {
  "<path d=\"M60 30V260H840\" fill=\"none\" stroke=\"#888\"/>" + label(55, 40, highest, anchor: "end")
    + label(55, 260, "0", anchor: "end")
}

private func line(_ points: [(Double, Double)], color: String) -> String {
  let path = points.map { "\(decimal($0.0, 1)),\(decimal($0.1, 1))" }.joined(separator: " ")
  return "<polyline points=\"\(path)\" fill=\"none\" stroke=\"\(color)\" stroke-width=\"2\"/>"
}

private func label(
  _ x: Double, _ y: Double, _ text: String, anchor: String = "start", color: String? = nil
) -> String {
  let style = color.map { " style=\"fill:\($0)\"" } ?? ""
  return
    "<text x=\"\(decimal(x, 1))\" y=\"\(decimal(y, 1))\" text-anchor=\"\(anchor)\"\(style)>\(escaped(text))</text>"
}

private func escaped(_ text: String) -> String {
  var out = ""
  for character in text {
    switch character {
    case "<": out += "&lt;"
    case ">": out += "&gt;"
    case "&": out += "&amp;"
    case "\"": out += "&quot;"
    default: out.append(character)
    }
  }
  return out
}
