internal import Domain
internal import Glibc
package import LoadReport
internal import Synchronization
internal import Threads

/// What is to be offered, and for how long.
package struct LoadPlan: Sendable {
  package var arrival: Arrival
  package var connections: Int
  package var threads: Int
  /// Nanoseconds before anything is recorded.
  package var warmUp: Int
  /// Nanoseconds of the recorded part; with a count, the longest that it may take.
  package var duration: Int
  /// Requests at most, or volleys; nil for as many as fit.
  package var count: Int?

  package init(
    arrival: Arrival, connections: Int, threads: Int, warmUp: Int, duration: Int, count: Int? = nil
  ) {
    self.arrival = arrival
    self.connections = connections
    self.threads = threads
    self.warmUp = warmUp
    self.duration = duration
    self.count = count
  }

  /// Threads that have something to do: no more than connections, and one for volleys, which must be at one moment.
  var usefulThreads: Int { arrival == .volleys ? 1 : max(1, min(threads, connections)) }

  /// With a count the schedule ends where that many requests have been intended.
  package var schedule: Schedule {
    guard let count, arrival.isOpen else { return Schedule(arrival, warmUp: warmUp, duration: duration) }
    let perSecond = Double(Schedule(arrival, warmUp: 0, duration: 1_000_000_000).count)
    return Schedule(arrival, warmUp: warmUp, duration: Int(Double(count) / max(perSecond, 1e-3) * 1e9))
  }

  /// The most requests that will be sent, where that is known before.
  package var requestCount: Int? {
    switch arrival {
    case .constant, .ramp: schedule.count
    case .closed: count
    case .volleys: count.map { $0 * connections }
    }
  }
}

/// What a run found, before it becomes a report.
package struct LoadOutcome: Sendable {
  package var report: RunReport
  package let findings: Findings
  /// Bytes of a request and of an answer's body, of the last ones.
  package let requestBytes: Int
  package let bodyBytes: Int
  package let isServerGone: Bool
  package let wasStopped: Bool
}

/// Offers the load and waits for its end. Blocks the calling thread.
///
/// - Parameters:
///   - name: The workload's, for the report; empty for what is not shown.
///   - server: The process whose cost is measured, if it is known.
package func runLoad(
  _ kind: WorkloadKind, _ plan: LoadPlan, name: String, against endpoint: Endpoint, server: Int32?,
  stop: StopFlag
) throws(LoadError) -> LoadOutcome {
  raiseOpenFiles()
  let threads = plan.usefulThreads
  // Enough to open the connections.
  let start = steadyNanoseconds() + 5_000_000 + plan.connections * 60_000
  let schedule = plan.schedule
  let recording = start + plan.warmUp
  let isCounted = plan.count != nil
  let lastSend =
    recording
    + (isCounted ? max(plan.duration, plan.arrival.isOpen ? 2 * schedule.duration : 0) : plan.duration)
  let gauge = LoopGauge()
  let results = Monitor<[LoopResult]>([])
  var firstSlot = 0
  for thread in 0..<threads {
    let connections = share(of: plan.connections, thread, threads)
    let slots = firstSlot..<(firstSlot + connections)
    firstSlot += connections
    let loop = LoopPlan(
      endpoint: endpoint, arrival: plan.arrival, schedule: schedule, thread: thread, threads: threads,
      slots: slots,
      quota: plan.arrival.isOpen ? nil : plan.count.map { share(of: $0, thread, threads) }, start: start,
      recording: recording, lastSend: lastSend, end: lastSend + 5_000_000_000)
    do {
      _ = try DedicatedThread(name: "load-\(thread)") {
        let seat = WorkloadKind.Seat(
          thread: thread, threads: threads, slots: slots, allSlots: plan.connections, host: endpoint.authority
        )
        var running = LoadLoop(loop, kind.workload(at: seat), gauge: gauge, stop: stop)
        let result = running.run()
        results.update { $0.append(result) }
      }
    } catch {
      stop.set()
      throw .unavailable("the system gives no thread")
    }
  }
  let cost = watch(
    gauge, recording: recording, until: lastSend, server: server, isSilent: name.isEmpty, stop: stop
  ) { patience in
    results.wait(atMost: patience) { $0.count == threads ? true : nil } != nil
  }
  return gather(
    results.read { $0 }, plan, name: name, endpoint: endpoint, recording: recording, cost: cost,
    wasStopped: stop.isSet)
}

private func share(of whole: Int, _ part: Int, _ parts: Int) -> Int {
  whole / parts + (part < whole % parts ? 1 : 0)
}

/// Waits for the threads, shows how far they are, and measures what the server needs from the first recorded request
/// on.
///
/// A server that has not answered anything for half a minute is not waited for any longer.
///
/// - Parameter isDone: Waits for the threads, at most so many milliseconds, and tells whether all have ended.
private func watch(
  _ gauge: LoopGauge, recording: Int, until end: Int, server: Int32?, isSilent: Bool, stop: StopFlag,
  isDone: (Int64) -> Bool
) -> ServerCost? {
  var before: (cpu: CPUTimes?, answered: Int)?
  var shown = (at: steadyNanoseconds(), answered: 0)
  var progress = shown
  // Until recording begins the moment matters; afterwards a look now and then is enough, and takes nothing from the
  // server.
  while !isDone(before == nil ? Int64(min(max((recording - steadyNanoseconds()) / 1_000_000, 1), 20)) : 250) {
    let now = steadyNanoseconds()
    if before == nil, now >= recording {
      before = (server.flatMap { CPUTimes(server: $0) }, gauge.answered.load(ordering: .relaxed))
    }
    let soFar = gauge.answered.load(ordering: .relaxed)
    if soFar != progress.answered { progress = (now, soFar) }
    if now - max(progress.at, recording) > 30_000_000_000 { stop.set() }
    if !isSilent, now - shown.at >= 250_000_000 {
      let answered = gauge.answered.load(ordering: .relaxed)
      let rate = Double(answered - shown.answered) / Double(now - shown.at) * 1e9
      showProgress(
        "\(answered) answered, \(decimal(rate, 0))/s, \(gauge.failed.load(ordering: .relaxed)) failed, "
          + "\(max(0, (end - now) / 1_000_000_000)) s left")
      shown = (now, answered)
    }
  }
  if !isSilent { showProgress("") }
  guard let server, let before, let first = before.cpu, let last = CPUTimes(server: server) else {
    return nil
  }
  let answered = gauge.answered.load(ordering: .relaxed) - before.answered
  guard answered > 0 else { return nil }
  return ServerCost(
    nanosecondsPerAnswer: Double(last.server - first.server) / Double(answered),
    others: last.others(since: first))
}

/// What a run cost the server.
private struct ServerCost {
  let nanosecondsPerAnswer: Double
  /// The share of the machine that went to neither the server nor this program.
  let others: Double
}

private func gather(
  _ results: [LoopResult], _ plan: LoadPlan, name: String, endpoint: Endpoint, recording: Int,
  cost: ServerCost?,
  wasStopped: Bool
) -> LoadOutcome {
  let isServerGone = results.contains { $0.isServerGone }
  var last = results.map(\.lastAnswer).max() ?? 0
  // A server that stood still to the end has not answered faster for it.
  if plan.count == nil, !wasStopped, !isServerGone { last = max(last, recording + plan.duration) }
  var report = RunReport(
    workload: name, load: plan.arrival.words(connections: plan.connections),
    isClosedLoop: !plan.arrival.isOpen,
    target: endpoint.authority, startedAt: systemClock.now().seconds,
    seconds: max(0, Double(last - recording) / 1e9), connections: plan.connections,
    threads: results.count)
  var findings = Findings()
  var refusals: [LoopResult.Reason: Int] = [:]
  for result in results {
    report.counts.add(result.counts)
    report.response.merge(result.response)
    report.service.merge(result.service)
    refusals.merge(result.refusals) { $0 + $1 }
    findings.merge(result.findings)
    for (index, second) in result.timeline.enumerated() {
      while report.timeline.count <= index { report.timeline.append(Second()) }
      report.timeline[index].answered += second.answered
      report.timeline[index].worst = max(report.timeline[index].worst, second.worst)
    }
  }
  report.refusals = refusals.map { reason, count in
    // Only for people: whatever is no UTF-8 is mended.
    Refusal(
      status: reason.status, reason: String(decoding: reason.reason.prefix(64), as: UTF8.self), count: count,
      isExpected: reason.isExpected)
  }
  .sorted { ($0.count, $1.reason) > ($1.count, $0.reason) }
  report.broken = findings.broken.sorted { $0.key < $1.key }.map { "\($0.key) (\($0.value) times)" }
  let cpu = results.reduce(0) { $0 + $1.busyNanoseconds }
  report.client.microsecondsPerRequest = Double(cpu) / Double(max(report.response.count, 1)) / 1000
  report.client.busiest = results.map { Double($0.busyNanoseconds) / Double($0.wallNanoseconds) }.max() ?? 0
  if let cost {
    var use = ServerUse()
    use.microsecondsPerRequest = cost.nanosecondsPerAnswer / 1000
    report.server = use
  }
  report.warnings = warnings(report, isDry: results.contains { $0.isDry }, isServerGone, wasStopped)
  // Whoever shares a core also empties its caches: the same work then takes more of its time.
  if let cost, cost.others > 0.15 {
    report.warnings.append(
      "others took \(decimal(cost.others * 100, 0))% of this machine meanwhile: CPU times are too high, and so are "
        + "response times")
  }
  let unopened = results.reduce(0) { $0 + $1.unopened }
  if unopened > 0, !isServerGone, !wasStopped {
    report.warnings.append("\(unopened) connections could not be opened")
  }
  return LoadOutcome(
    report: report, findings: findings, requestBytes: results.map(\.requestBytes).max() ?? 0,
    bodyBytes: results.map(\.bodyBytes).max() ?? 0, isServerGone: isServerGone, wasStopped: wasStopped)
}

private func warnings(
  _ report: RunReport, isDry: Bool, _ isServerGone: Bool, _ wasStopped: Bool
) -> [String] {
  var warnings: [String] = []
  if report.client.busiest > 0.9, report.counts.answered > 0 {
    warnings.append(
      "the client was the bottleneck: a thread of it was busy nearly all the time; give it more threads")
  } else if report.counts.late * 20 > report.counts.answered, report.service.percentile(99) < 1_000_000 {
    warnings.append("the client was the bottleneck: much was sent late although answers came at once")
  }
  if isDry { warnings.append("the tokens ran out before the time: what was measured is shorter") }
  if isServerGone { warnings.append("the server is gone: it accepts no connections any more") }
  if wasStopped { warnings.append("stopped before its time") }
  return warnings
}

extension Counts {
  fileprivate mutating func add(_ other: Counts) {
    good += other.good
    failed += other.failed
    late += other.late
    unsent += other.unsent
    unanswered += other.unanswered
  }
}

/// The usual limit of 1,024 open files is less than the connections of a run.
private func raiseOpenFiles() {
  let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
  var limit = rlimit()
  guard unsafe getrlimit(resource, &limit) == 0, limit.rlim_cur < limit.rlim_max else { return }
  limit.rlim_cur = limit.rlim_max
  unsafe setrlimit(resource, &limit)
}
