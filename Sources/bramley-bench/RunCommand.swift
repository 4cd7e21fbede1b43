internal import Bench
internal import Load
internal import LoadReport
internal import Wire

/// `bramley-bench WORKLOAD`: prepares, offers the load, measures the floor, and reports.
func runWorkload(_ name: WorkloadName, _ list: [String], _ stop: StopFlag) throws(CommandFault) -> Int32 {
  let options = try LoadOptions(name, list)
  let target = try Target(options)
  defer { target.stop() }
  let supplies = Supplies(options, target, stop)
  defer { supplies.save() }

  let run: MeasuredRun
  switch options.shape {
  case .plain:
    let kind = try supplies.prepare(name, options.plan)
    run = MeasuredRun(
      kind: kind, plan: options.plan, outcome: try measure(name, kind, options.plan, target, stop))
  case .search(let limit): run = try findMaximum(name, options, target, supplies, below: limit, stop)
  }
  var report = run.outcome.report
  target.describe(&report)
  if case .replay(let tokens, _)? = run.kind {
    report.broken += try replayAgain(tokens, run.outcome, target, stop)
  }
  if options.hasCeiling, !stop.isSet, report.server?.microsecondsPerRequest != nil {
    try addFloor(name, options, run, target, to: &report, stop)
  }
  try write(report, options.arguments)
  return verdict(report, options.thresholds, run.outcome)
}

/// A run, and how it was offered.
struct MeasuredRun {
  var kind: WorkloadKind?
  let plan: LoadPlan
  var outcome: LoadOutcome
}

/// Offers a prepared workload.
func measure(
  _ name: WorkloadName, _ kind: WorkloadKind, _ plan: LoadPlan, _ target: Target, _ stop: StopFlag
) throws(CommandFault) -> LoadOutcome {
  try attempt { () throws(LoadError) in
    try runLoad(
      kind, plan, name: name.rawValue, against: target.endpoint, server: target.process, stop: stop)
  }
}

/// Refreshes the session that a replayed token opened, and replays the token once more.
///
/// - Returns: What was broken of the promises.
private func replayAgain(
  _ tokens: AppleTokens, _ outcome: LoadOutcome, _ target: Target, _ stop: StopFlag
) throws(CommandFault) -> [String] {
  let sessions = outcome.findings.sessions.count
  guard sessions == 1, let grant = outcome.findings.collected.first else {
    // A server that is gone has not broken this promise.
    return outcome.isServerGone || stop.isSet ? [] : ["one Apple token opened \(sessions) sessions"]
  }
  guard !outcome.isServerGone, !stop.isSet else { return [] }
  func send(_ kind: WorkloadKind, _ count: Int) throws(CommandFault) -> LoadOutcome {
    let plan = LoadPlan(
      arrival: .closed, connections: min(count, 16), threads: 1, warmUp: 0, duration: 30_000_000_000,
      count: count)
    return try attempt { () throws(LoadError) in
      try runLoad(kind, plan, name: "", against: target.endpoint, server: nil, stop: stop)
    }
  }
  guard try send(.refresh([grant]), 1).report.counts.good == 1 else {
    return ["the session that a replayed token opened cannot be refreshed"]
  }
  return try send(.replay(tokens, isSpent: true), 64).report.broken
}

private func addFloor(
  _ name: WorkloadName, _ options: LoadOptions, _ run: MeasuredRun, _ target: Target,
  to report: inout RunReport,
  _ stop: StopFlag
) throws(CommandFault) {
  guard let kind = name.floor(isFresh: options.isFresh), run.outcome.bodyBytes > 0 || name == .verify else {
    return
  }
  var plan = run.plan
  if case .ramp(let from, let to) = plan.arrival { plan.arrival = .constant((from + to) / 2) }
  plan.count = nil
  plan.warmUp = 500_000_000
  plan.duration = min(max(run.plan.duration, 500_000_000), 3_000_000_000)
  let keySet = kind == .keySet ? target.endpoint.body(of: "/.well-known/jwks.json") ?? [] : []
  let shape = RequestShape(
    request: run.outcome.requestBytes, body: run.outcome.bodyBytes, hasBody: name.hasBody)
  showProgress("measuring the ceiling")
  report.floor = try attempt { () throws(LoadError) in
    try measureFloor(kind, shape, plan, keySet: keySet, threads: options.serverThreads, stop: stop)
  }
  showProgress("")
  if report.floor == nil { report.warnings.append("there is no nginx on this machine to compare with") }
}

/// What the exit status has to say.
private func verdict(_ report: RunReport, _ thresholds: [Threshold], _ outcome: LoadOutcome) -> Int32 {
  var failures = thresholds.compactMap { $0.failure(of: report) } + report.broken
  // Nothing can be said of what was not measured.
  if outcome.wasStopped, !thresholds.isEmpty { failures.append("stopped before its time") }
  for failure in failures { complain(failure) }
  if !failures.isEmpty { return ExitStatus.refused }
  guard outcome.isServerGone else { return ExitStatus.done }
  complain("the server is gone")
  return ExitStatus.unavailable
}
