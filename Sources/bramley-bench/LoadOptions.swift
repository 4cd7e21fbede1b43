internal import Bench
internal import Load
internal import LoadReport
internal import Wire

/// What the command line of a workload says.
struct LoadOptions {
  /// How the load is shaped beside what a plan says.
  enum Shape {
    case plain
    /// Looks for the highest rate with which p99 stays below, in nanoseconds.
    case search(below: Int)
  }

  let arguments: Arguments
  var plan: LoadPlan
  var shape = Shape.plain
  let thresholds: [Threshold]
  let persons: Int
  let mint: Int
  let sessions: Int
  let accounts: Int
  let isFresh: Bool
  let hasCeiling: Bool

  init(_ name: WorkloadName, _ list: [String]) throws(CommandFault) {
    arguments = try Arguments(
      list,
      options: [
        "spawn", "data", "accounts", "log", "url", "server-pid", "apple-listen", "rate", "ramp", "p99",
        "closed",
        "connections", "threads", "duration", "count", "warm-up", "tokens", "persons", "mint", "sessions",
        "service-key", "audience", "json", "csv", "html",
      ], lists: ["env", "fail-if"], switches: ["allow-remote", "find-max", "no-ceiling", "fresh"])
    guard arguments.words.count == (name == .mix ? 1 : 0) else {
      throw .usage(name == .mix ? "mix takes one file" : "\(name.rawValue) takes options only")
    }
    var thresholds: [Threshold] = []
    for text in arguments.all("fail-if") {
      do { thresholds.append(try Threshold(text)) } catch { throw .usage("--fail-if: \(error.message)") }
    }
    self.thresholds = thresholds
    persons = try number("persons", of: arguments, 1...10_000_000) ?? 10_000
    mint = try number("mint", of: arguments, 1...2_000_000) ?? 40_000
    sessions = try number("sessions", of: arguments, 1...1_000_000) ?? 1000
    accounts = try number("accounts", of: arguments, 0...10_000_000) ?? 0
    isFresh = arguments.has("fresh")
    hasCeiling = !arguments.has("no-ceiling")
    plan = try makePlan(name, arguments)
    if arguments.has("find-max") {
      guard arguments["rate"] == nil, arguments["ramp"] == nil, arguments["closed"] == nil,
        arguments["count"] == nil
      else {
        throw .usage("--find-max looks for the rate itself: neither --rate, --ramp, --closed nor --count")
      }
      guard !name.isHostile else { throw .usage("--find-max is for workloads whose speed matters") }
      shape = .search(below: try duration("p99", arguments, 1_000...60_000_000_000) ?? 20_000_000)
    } else if arguments["p99"] != nil {
      throw .usage("--p99 belongs to --find-max")
    }
    guard !isFresh || name == .verify else { throw .usage("--fresh belongs to verify") }
    guard (arguments["spawn"] == nil) != (arguments["url"] == nil) else {
      throw .usage("either --spawn PROGRAM or --url URL is needed")
    }
    for option in ["data", "accounts", "log", "env"]
    where arguments["spawn"] == nil && arguments[option] != nil {
      throw .usage("--\(option) belongs to --spawn")
    }
    for option in ["server-pid", "apple-listen", "audience", "service-key"]
    where arguments["url"] == nil && arguments[option] != nil {
      throw .usage("--\(option) belongs to --url")
    }
    if let wrong = arguments.all("env").first(where: { !$0.contains("=") }) {
      throw .usage("--env takes NAME=VALUE, not `\(wrong)`")
    }
  }

  /// Threads of the spawned server's listener.
  var serverThreads: Int {
    let set = arguments.all("env").last { $0.hasPrefix("BRAMLEY_THREADS=") }
    return set.flatMap { Int($0.dropFirst("BRAMLEY_THREADS=".count)) } ?? availableCores()
  }

  var tokenFile: String? { bramley_bench.tokenFile(arguments) }
}

extension WorkloadName {
  /// Whether it is about outcomes and not about speed.
  var isHostile: Bool { self == .replay || self == .race }
}

private func makePlan(_ name: WorkloadName, _ arguments: Arguments) throws(CommandFault) -> LoadPlan {
  let closed = try number("closed", of: arguments, 1...20_000)
  let connections = try number("connections", of: arguments, 1...20_000)
  let rate = try arguments["rate"].map { text throws(CommandFault) in
    try ratePerSecond(text, "--rate takes N/s")
  }
  let ramp = try arguments["ramp"].map { text throws(CommandFault) in try rampRates(text) }
  guard [closed != nil, rate != nil, ramp != nil].count(where: { $0 }) <= 1 else {
    throw .usage("only one of --rate, --ramp and --closed can be")
  }
  guard closed == nil || connections == nil else {
    throw .usage("--closed N says how many connections there are")
  }
  guard name != .race || closed ?? nil == nil && rate == nil && ramp == nil else {
    throw .usage("race sends in volleys: only --connections and --count shape it")
  }
  let arrival: Arrival =
    if name == .race {
      .volleys
    } else if let rate {
      .constant(rate)
    } else if let ramp {
      .ramp(from: ramp.0, to: ramp.1)
    } else {
      .closed
    }
  let count = try number("count", of: arguments, 1...100_000_000)
  let given = try duration("duration", arguments, 1_000_000...86_400_000_000_000)
  let isCounted = count != nil || name == .race
  let warmUp = try duration("warm-up", arguments, 0...3_600_000_000_000) ?? (isCounted ? 0 : 2_000_000_000)
  let cores = availableCores()
  return LoadPlan(
    arrival: arrival, connections: closed ?? connections ?? 32,
    threads: try number("threads", of: arguments, 1...256) ?? max(1, min(4, cores / 2)), warmUp: warmUp,
    duration: given
      ?? (isCounted ? 600_000_000_000 : arguments.has("find-max") ? 3_000_000_000 : 10_000_000_000),
    count: count ?? (name == .race ? 200 : nil))
}

private func ratePerSecond(_ text: some StringProtocol, _ words: String) throws(CommandFault) -> Double {
  let bare = text.hasSuffix("/s") ? String(text.dropLast(2)) : String(text)
  guard let rate = decimalNumber(bare), (0.1...10_000_000).contains(rate) else { throw .usage(words) }
  return rate
}

private func rampRates(_ text: String) throws(CommandFault) -> (Double, Double) {
  let words = "--ramp takes FROM..TO, such as 100..5000"
  var parts: [Substring] = []
  var rest = text[...]
  while let dot = rest.firstIndex(of: "."), parts.isEmpty {
    // A single point belongs to a number.
    let next = rest.index(after: dot)
    guard next < rest.endIndex, rest[next] == "." else { throw .usage(words) }
    parts = [rest[..<dot], rest[rest.index(after: next)...]]
    rest = parts[1]
  }
  guard parts.count == 2 else { throw .usage(words) }
  return (try ratePerSecond(parts[0], words), try ratePerSecond(parts[1], words))
}

/// A duration of an option, in nanoseconds.
func duration(
  _ option: String, _ arguments: Arguments, _ range: ClosedRange<Int>
) throws(CommandFault) -> Int? {
  guard let text = arguments[option] else { return nil }
  guard let value = durationNumber(text), range.contains(value) else {
    throw .usage(
      "--\(option) takes a duration from \(durationText(range.lowerBound)) to \(durationText(range.upperBound)), "
        + "such as 500ms or 10s")
  }
  return value
}
