internal import Bench
internal import Load
internal import LoadReport
internal import Wire

/// Looks for the knee: the highest rate that the server holds while p99 of the response time stays below a limit.
///
/// A short closed loop says about where it lies; then each step halves what lies between a rate that was held and one
/// that was not. Throughput beyond the knee says nothing: there the queue grows for as long as one measures.
func findMaximum(
  _ name: WorkloadName, _ options: LoadOptions, _ target: Target, _ supplies: Supplies, below limit: Int,
  _ stop: StopFlag
) throws(CommandFault) -> MeasuredRun {
  var probe = options.plan
  probe.arrival = .closed
  probe.warmUp = min(probe.warmUp, 1_000_000_000)
  probe.duration = min(probe.duration, 2_000_000_000)
  let first = try measure(name, try supplies.prepare(name, probe), probe, target, stop)
  var best: MeasuredRun?
  var steps: [Step] = []
  var (held, missed) = (0.0, first.report.rate * 1.2)
  while missed - held > 0.04 * missed, steps.count < 12, !stop.isSet, missed >= 2 {
    let rate = ((held == 0 ? missed * 0.6 : (held + missed) / 2)).rounded()
    var plan = options.plan
    plan.arrival = .constant(max(rate, 1))
    var outcome = try measure(name, try supplies.prepare(name, plan), plan, target, stop)
    // Once more: a machine has other things to do now and then.
    if !isHeld(outcome, below: limit), !outcome.isServerGone, !stop.isSet {
      outcome = try measure(name, try supplies.prepare(name, plan), plan, target, stop)
    }
    let isHeld = isHeld(outcome, below: limit)
    steps.append(Step(rate: rate, p99: outcome.report.response.percentile(99), isHeld: isHeld))
    if isHeld { held = rate } else { missed = rate }
    if isHeld || best == nil { best = MeasuredRun(plan: plan, outcome: outcome) }
    if outcome.isServerGone { break }
  }
  guard var run = best else { return MeasuredRun(plan: probe, outcome: first) }
  run.outcome.report.steps = steps
  return run
}

private func isHeld(_ outcome: LoadOutcome, below limit: Int) -> Bool {
  outcome.report.response.percentile(99) <= limit && outcome.report.counts.failed == 0
    && !outcome.isServerGone
}
