internal import LoadReport
internal import CEpoll
internal import Glibc
internal import Synchronization

/// What one thread of a run does.
struct LoopPlan: Sendable {
  let endpoint: Endpoint
  let arrival: Arrival
  let schedule: Schedule
  /// Which of the threads it is; of an open loop it sends every `threads`-th request.
  let thread: Int
  let threads: Int
  /// The connections, by numbers that are the thread's own among all.
  let slots: Range<Int>
  /// Requests of a closed loop, or volleys; nil for no limit but time.
  let quota: Int?
  /// Steady nanoseconds: of the first intended time, of the first request that is recorded, from when on nothing is
  /// sent, and from when on no answer is awaited.
  let start: Int
  let recording: Int
  let lastSend: Int
  let end: Int
}

/// What a run shows while it runs.
final class LoopGauge: Sendable {
  let answered = Atomic(0)
  let failed = Atomic(0)
}

/// Set once, by a signal.
package final class StopFlag: Sendable {
  private let value = Atomic(false)

  package init() {}

  package var isSet: Bool { value.load(ordering: .relaxed) }

  /// Ends every run that watches it, soon.
  package func set() { value.store(true, ordering: .relaxed) }
}

/// What one thread found.
struct LoopResult: Sendable {
  struct Reason: Hashable, Sendable {
    let status: Int
    let reason: [UInt8]
    let isExpected: Bool
  }

  var counts = Counts()
  var response = Histogram()
  var service = Histogram()
  var refusals: [Reason: Int] = [:]
  var timeline: [Second] = []
  var findings = Findings()
  /// Steady nanoseconds of the last recorded answer.
  var lastAnswer = 0
  var busyNanoseconds = 0
  var wallNanoseconds = 1
  var requestBytes = 0
  var bodyBytes = 0
  /// Connections that could not be opened at the beginning.
  var unopened = 0
  /// Nobody accepts connections any more.
  var isServerGone = false
  /// The workload had nothing to send any more.
  var isDry = false
}

/// One connection.
private struct Client {
  var descriptor: Int32 = -1
  var isBusy = false
  var intended = 0
  var sent = 0
  /// What the socket would not take at once, which is rare.
  var rest: [UInt8] = []
  /// The beginning of an answer that came in several pieces.
  var received: [UInt8] = []
}

/// One thread's connections and what it sends over them.
struct LoadLoop {
  /// Nanoseconds after its intended time from which on a sending is late.
  private static let lateAfter = 1_000_000

  private let plan: LoopPlan
  private let gauge: LoopGauge
  private let stop: StopFlag
  private let epoll: Int32
  private var load: any Workload
  private var clients: [Client]
  /// Slots that have nothing on their way, longest idle first, so that all connections are used in turn.
  private var idle: [Int] = []
  private var idleHead = 0
  private var busy = 0
  private var alive = 0
  private var sentCount = 0
  private var nextNumber: Int
  private var outgoing: [UInt8] = []
  private var incoming = [UInt8](repeating: 0, count: 64 * 1024)
  private var names = [UInt32](repeating: 0, count: Int(CEPOLL_BATCH))
  private var result = LoopResult()

  init(_ plan: LoopPlan, _ load: any Workload, gauge: LoopGauge, stop: StopFlag) {
    self.plan = plan
    self.load = load
    self.gauge = gauge
    self.stop = stop
    epoll = cepoll_create()
    clients = Array(repeating: Client(), count: plan.slots.count)
    nextNumber = plan.thread
    outgoing.reserveCapacity(16 * 1024)
  }

  /// Runs to the end of the plan.
  mutating func run() -> LoopResult {
    // Whoever lets one connection wait would let the next one wait as long.
    for slot in clients.indices where !connect(slot) || stop.isSet { break }
    result.unopened = clients.count - alive
    var before = (cpu: threadNanoseconds(), wall: steadyNanoseconds())
    var isRecording = false
    while true {
      let now = steadyNanoseconds()
      if isOver(at: now) { break }
      if !isRecording, now >= plan.recording {
        isRecording = true
        before = (threadNanoseconds(), now)
      }
      sendWhatIsDue()
      let count = unsafe cepoll_wait(epoll, &names, Int64(timeout()))
      for index in 0..<Int(max(count, 0)) { serve(Int(names[index])) }
    }
    countRemainder()
    for client in clients where client.descriptor >= 0 { close(client.descriptor) }
    close(epoll)
    result.findings = load.findings
    result.busyNanoseconds = threadNanoseconds() - before.cpu
    result.wallNanoseconds = max(1, steadyNanoseconds() - before.wall)
    return result
  }

  // MARK: What to send, and when

  private func isOver(at now: Int) -> Bool {
    if stop.isSet || now >= plan.end || alive == 0 { return true }
    return busy == 0 && !hasMoreToSend(at: now)
  }

  private func hasMoreToSend(at now: Int) -> Bool {
    if now >= plan.lastSend || result.isDry { return false }
    if plan.arrival.isOpen { return nextNumber < plan.schedule.count }
    return plan.quota.map { sentCount < $0 } ?? true
  }

  /// Until the next intended time, but never so long that a signal would wait.
  private func timeout() -> Int {
    let longest = 50_000_000
    guard plan.arrival.isOpen, idleHead < idle.count, hasMoreToSend(at: 0) else { return longest }
    return min(max(plan.start + plan.schedule.intended(nextNumber) - steadyNanoseconds(), 0), longest)
  }

  private mutating func sendWhatIsDue() {
    var now = steadyNanoseconds()
    switch plan.arrival {
    case .constant, .ramp:
      while idleHead < idle.count, hasMoreToSend(at: now) {
        let intended = plan.start + plan.schedule.intended(nextNumber)
        guard intended <= now else { return }
        nextNumber += plan.threads
        send(takeIdle(), intended: intended, at: now)
        now = steadyNanoseconds()
      }
    case .closed:
      while now >= plan.start, idleHead < idle.count, hasMoreToSend(at: now) {
        sentCount += 1
        send(takeIdle(), intended: now, at: now)
        now = steadyNanoseconds()
      }
    case .volleys:
      guard now >= plan.start, busy == 0, hasMoreToSend(at: now) else { return }
      sentCount += 1
      load.beginVolley()
      for _ in 0..<(idle.count - idleHead) { send(takeIdle(), intended: now, at: now) }
    }
  }

  private mutating func takeIdle() -> Int {
    let slot = idle[idleHead]
    idleHead += 1
    // Moves what is left to the front before the array grows without end.
    if idleHead >= 1024 || idleHead == idle.count {
      idle.removeFirst(idleHead)
      idleHead = 0
    }
    return slot
  }

  private mutating func send(_ slot: Int, intended: Int, at now: Int) {
    outgoing.removeAll(keepingCapacity: true)
    guard load.appendRequest(slot: plan.slots.lowerBound + slot, to: &outgoing) else {
      result.isDry = true
      idle.append(slot)
      return
    }
    clients[slot].isBusy = true
    clients[slot].intended = intended
    clients[slot].sent = now
    busy += 1
    if plan.arrival.isOpen, now - intended > Self.lateAfter, intended >= plan.recording {
      result.counts.late += 1
    }
    let sent = unsafe Glibc.send(clients[slot].descriptor, outgoing, outgoing.count, Int32(MSG_NOSIGNAL))
    result.requestBytes = outgoing.count
    if sent < outgoing.count {
      guard sent >= 0 || errno == EAGAIN else { return reconnect(slot) }
      clients[slot].rest = Array(outgoing[max(sent, 0)...])
      _ = cepoll_watch(epoll, clients[slot].descriptor, UInt32(slot), 1, 1)
    }
  }

  // MARK: What comes back

  private mutating func serve(_ slot: Int) {
    guard clients[slot].descriptor >= 0 else { return }
    if !clients[slot].rest.isEmpty, !sendRest(slot) { return }
    let count = unsafe recv(clients[slot].descriptor, &incoming, incoming.count, 0)
    guard count > 0 else {
      if count < 0, errno == EAGAIN || errno == EINTR { return }
      return reconnect(slot)
    }
    if clients[slot].received.isEmpty {
      take(slot, incoming, count)
    } else {
      clients[slot].received.append(contentsOf: incoming[..<count])
      let whole = clients[slot].received
      take(slot, whole, whole.count)
    }
  }

  /// - Returns: Whether something may be read.
  private mutating func sendRest(_ slot: Int) -> Bool {
    let rest = clients[slot].rest
    let sent = unsafe Glibc.send(clients[slot].descriptor, rest, rest.count, Int32(MSG_NOSIGNAL))
    guard sent >= 0 || errno == EAGAIN else {
      reconnect(slot)
      return false
    }
    clients[slot].rest.removeFirst(max(sent, 0))
    if clients[slot].rest.isEmpty { _ = cepoll_watch(epoll, clients[slot].descriptor, UInt32(slot), 1, 0) }
    return true
  }

  /// Looks at what has come of an answer.
  private mutating func take(_ slot: Int, _ bytes: [UInt8], _ count: Int) {
    guard clients[slot].isBusy else { return reconnect(slot) }
    let head: AnswerHead
    switch readHead(bytes, count: count) {
    case .head(let whole): head = whole
    case .broken: return reconnect(slot)
    case .partial: return count > largestAnswer ? reconnect(slot) : keep(slot, bytes, count)
    }
    let end = head.bodyStart + head.bodyLength
    // More than one answer to one request is none.
    guard count <= end else { return reconnect(slot) }
    guard count == end else { return keep(slot, bytes, count) }
    finish(slot, Answer(status: head.status, buffer: bytes, body: head.bodyStart..<end))
    if head.closes { reconnect(slot) } else { idle.append(slot) }
  }

  private mutating func keep(_ slot: Int, _ bytes: [UInt8], _ count: Int) {
    if clients[slot].received.isEmpty { clients[slot].received = Array(bytes[..<count]) }
  }

  private mutating func finish(_ slot: Int, _ answer: Answer) {
    let now = steadyNanoseconds()
    clients[slot].isBusy = false
    clients[slot].received.removeAll(keepingCapacity: true)
    busy -= 1
    let outcome = load.took(answer, slot: plan.slots.lowerBound + slot)
    gauge.answered.add(1, ordering: .relaxed)
    result.bodyBytes = answer.bodyCount
    if outcome == .bad { gauge.failed.add(1, ordering: .relaxed) }
    guard clients[slot].intended >= plan.recording else { return }
    if outcome != .bad { result.counts.good += 1 } else { result.counts.failed += 1 }
    if answer.status >= 300 || outcome != .good {
      let reason = Array(answer.detailReason ?? [])
      count(LoopResult.Reason(status: answer.status, reason: reason, isExpected: outcome != .bad))
    }
    record(slot, at: now)
  }

  private mutating func record(_ slot: Int, at now: Int) {
    let time = now - clients[slot].intended
    result.response.record(time)
    result.service.record(now - clients[slot].sent)
    result.lastAnswer = now
    let second = (now - plan.recording) / 1_000_000_000
    while result.timeline.count <= second, result.timeline.count < 86_400 { result.timeline.append(Second()) }
    guard second < result.timeline.count else { return }
    result.timeline[second].answered += 1
    result.timeline[second].worst = max(result.timeline[second].worst, time)
  }

  private mutating func count(_ reason: LoopResult.Reason) {
    // A server that answers something else each time must not fill the memory.
    if result.refusals[reason] != nil || result.refusals.count < 1000 {
      result.refusals[reason, default: 0] += 1
    }
  }

  // MARK: Connections

  /// - Returns: Whether it is open.
  @discardableResult
  private mutating func connect(_ slot: Int) -> Bool {
    guard let descriptor = plan.endpoint.connect(),
      cepoll_watch(epoll, descriptor, UInt32(slot), 0, 0) == 0
    else {
      result.isServerGone = alive == 0
      return false
    }
    clients[slot].descriptor = descriptor
    alive += 1
    idle.append(slot)
    return true
  }

  /// Closes what is broken or ended, and opens it again.
  private mutating func reconnect(_ slot: Int) {
    if clients[slot].isBusy {
      busy -= 1
      load.lost(slot: plan.slots.lowerBound + slot)
      gauge.answered.add(1, ordering: .relaxed)
      gauge.failed.add(1, ordering: .relaxed)
      if clients[slot].intended >= plan.recording {
        result.counts.failed += 1
        count(.init(status: 0, reason: Array("connection_broken".utf8), isExpected: false))
        record(slot, at: steadyNanoseconds())
      }
    } else if let place = idle[idleHead...].firstIndex(of: slot) {
      idle.remove(at: place)
    }
    close(clients[slot].descriptor)
    clients[slot] = Client()
    alive -= 1
    connect(slot)
  }

  /// What was not sent or not answered has waited at least until now: leaving it out would hide the stall.
  private mutating func countRemainder() {
    let now = steadyNanoseconds()
    for client in clients where client.isBusy && client.intended >= plan.recording {
      result.counts.unanswered += 1
      result.response.record(now - client.intended)
      result.service.record(now - client.sent)
    }
    guard plan.arrival.isOpen, !result.isDry else { return }
    while nextNumber < plan.schedule.count {
      let intended = plan.start + plan.schedule.intended(nextNumber)
      nextNumber += plan.threads
      if intended >= now { return }
      guard intended >= plan.recording else { continue }
      result.counts.unsent += 1
      result.response.record(now - intended)
    }
  }
}
