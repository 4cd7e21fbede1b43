import LoadReport
import Testing
import Wire

/// A report with something in every field.
func sampleReport(p99 milliseconds: Int = 30, isClosedLoop: Bool = false) -> RunReport {
  var report = RunReport(
    workload: "signin", load: isClosedLoop ? "closed loop" : "open loop, 500/s", isClosedLoop: isClosedLoop,
    target: "127.0.0.1:8080", startedAt: 1_700_000_000, seconds: 2, connections: 4, threads: 1)
  for _ in 0..<980 { report.response.record(1_000_000) }
  for _ in 0..<20 { report.response.record(milliseconds * 1_000_000) }
  report.service = report.response
  report.counts.good = 990
  report.counts.failed = 10
  report.counts.late = 3
  report.counts.unsent = 2
  report.counts.unanswered = 1
  report.refusals = [Refusal(status: 503, reason: "<overloaded> & \"more\"", count: 10, isExpected: false)]
  report.timeline = [Second(answered: 500, worst: 1000), Second(answered: 500, worst: 2000)]
  report.client.microsecondsPerRequest = 7.5
  report.client.busiest = 0.25
  var server = ServerUse()
  server.microsecondsPerRequest = 150
  server.peakBytes = 50_000_000
  server.idleBytes = 30_000_000
  server.readyMilliseconds = 80.5
  report.server = server
  report.floor = Floor(parts: [
    Floor.Part(name: "ES256 sign", microseconds: 30), Floor.Part(name: "empty", microseconds: 20),
  ])
  report.broken = ["a promise"]
  report.warnings = ["a warning"]
  report.steps = [
    Step(rate: 400, p99: 12_000_000, isHeld: true), Step(rate: 800, p99: 99_000_000, isHeld: false),
  ]
  return report
}

@Suite struct ReportTests {
  @Test func `what is written as JSON can be read again, whole`() throws {
    let report = sampleReport()
    let read = try #require(RunReport(try JSONObject(parsing: report.json)))
    // The histogram keeps the largest value of a cell, which is what percentiles answer.
    for percent in [1.0, 50, 99, 99.9, 100] {
      #expect(read.response.percentile(percent) == report.response.percentile(percent))
    }
    #expect(read.response.count == 1000)
    #expect(read.counts == report.counts)
    #expect(read.refusals == report.refusals)
    #expect(read.timeline == report.timeline)
    #expect(read.server == report.server)
    #expect(read.floor == report.floor)
    #expect(read.steps == report.steps)
    #expect(read.broken == report.broken)
    #expect(read.warnings == report.warnings)
    #expect(read.json == report.json)
  }

  @Test func `something else is no report`() throws {
    #expect(RunReport(try JSONObject(parsing: Array(#"{"workload":"signin"}"#.utf8))) == nil)
    #expect(RunReport(try JSONObject(parsing: Array("{}".utf8))) == nil)
  }

  @Test func `the ratio is the server's cost by the floor's`() {
    #expect(sampleReport().ratio == 3)
    var report = sampleReport()
    report.floor = nil
    #expect(report.ratio == nil)
  }

  @Test func `the page needs nothing from anywhere, and shows what it is given as text`() {
    let page = sampleReport().html
    for word in ["http:", "https:", "src=", "href=", "<script", "@import", "<overloaded>"] {
      #expect(!page.contains(word), "\(word)")
    }
    #expect(page.contains("&lt;overloaded&gt; &amp;"))
    #expect(page.contains("<svg") && page.contains("</html>"))
  }

  @Test func `the text says what a closed loop hides`() {
    #expect(sampleReport(isClosedLoop: true).text.contains("Closed loop: nothing is sent"))
    #expect(!sampleReport().text.contains("Closed loop"))
    #expect(sampleReport().text.contains("10 × 503 <overloaded>"))
    #expect(sampleReport().text.contains("BROKEN     a promise"))
  }

  @Test func `CSV has as many fields as names`() {
    let lines = sampleReport().csv.split(separator: "\n")
    #expect(lines.count == 2)
    // The one field with a comma in it is quoted.
    let bare = String(lines[1]).replacing(try! Regex("\"[^\"]*\""), with: "x")
    #expect(
      lines[0].split(separator: ",").count
        == bare.split(separator: ",", omittingEmptySubsequences: false).count)
  }

  @Test func `a comparison shows both values and the change`() {
    let text = comparison(sampleReport(p99: 20), sampleReport(p99: 30))
    let line = text.split(separator: "\n").first { $0.hasPrefix("p99 ") } ?? ""
    #expect(line.contains("+50.0%") || line.contains("+49.9%"), "\(line)")
    #expect(!text.contains("did not do the same"))
    let other = comparison(sampleReport(), sampleReport(isClosedLoop: true))
    #expect(other.contains("did not do the same"))
  }
}

@Suite struct ThresholdTests {
  @Test(arguments: [
    ("p99>20ms", true), ("p99>31ms", false), ("p99 >= 20ms", true), ("p50<2ms", true), ("p99.9<1s", true),
    ("max>29ms", true), ("errors>0", true), ("errors>1.5%", false), ("errors>0.5%", true),
    ("rate<600/s", true),
    ("rate<400", false), ("late>4", true), ("cpu>149ms", true), ("cpu>151ms", false), ("memory>49MB", true),
    ("memory>0.06GB", false), ("ratio>2.9", true), ("ratio<=2.9", false),
  ])
  func `a run fails by a condition that holds`(_ text: String, _ fails: Bool) throws {
    let failure = try Threshold(text).failure(of: sampleReport())
    #expect((failure != nil) == fails, "\(failure ?? "")")
  }

  @Test(arguments: [
    "", "p99", "p99>", "p99>20", "p98>20ms", "p99=20ms", "p99>20 apples", "errors>many", "rate>-5",
    "ratio>1x",
    "memory>5", "cpu>5", "p99>1e3ms", ">5", "p99>>5ms",
  ])
  func `what is no condition is refused with what would be one`(_ text: String) {
    #expect(throws: ThresholdError.self) { try Threshold(text) }
  }

  @Test func `what was not measured fails`() throws {
    var report = sampleReport()
    report.server = nil
    let failure = try Threshold("ratio>100").failure(of: report)
    #expect(failure?.contains("not measured") == true)
  }

  @Test(arguments: [
    ("20ms", 20_000_000), ("1.5s", 1_500_000_000), ("250us", 250_000), ("7ns", 7), ("2m", 120_000_000_000),
  ])
  func `durations have units`(_ text: String, _ nanoseconds: Int) {
    #expect(durationNumber(text) == nanoseconds)
  }

  @Test(arguments: ["", "20", "ms", "-1s", "1e9s", "1.2.3s", "20 ms", "99999999999999999s"])
  func `what is no duration is none`(_ text: String) {
    #expect(durationNumber(text) == nil)
  }
}
