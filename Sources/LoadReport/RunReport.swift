/// Everything that one run found.
package struct RunReport: Sendable, Equatable {
  /// The workload's name, and what it was offered with, in words.
  package var workload: String
  package var load: String
  /// Whether every request waited for the one before: then a stall of the server is hidden, because what would have
  /// been sent meanwhile never was.
  package var isClosedLoop: Bool
  package var target: String
  /// Seconds since the epoch.
  package var startedAt: Int64
  /// Of the part that was recorded, without the warm-up.
  package var seconds: Double
  package var connections: Int
  package var threads: Int
  package var counts = Counts()
  /// From the intended time of each request to its answer.
  package var response = Histogram()
  /// From the real time of sending to the answer.
  package var service = Histogram()
  package var refusals: [Refusal] = []
  package var timeline: [Second] = []
  package var client = ClientUse()
  package var server: ServerUse?
  package var floor: Floor?
  /// Promises of the service that were broken.
  package var broken: [String] = []
  /// What the reader should know before believing the figures.
  package var warnings: [String] = []
  /// Of a search for the knee.
  package var steps: [Step] = []

  package init(
    workload: String, load: String, isClosedLoop: Bool, target: String, startedAt: Int64, seconds: Double,
    connections: Int, threads: Int
  ) {
    self.workload = workload
    self.load = load
    self.isClosedLoop = isClosedLoop
    self.target = target
    self.startedAt = startedAt
    self.seconds = seconds
    self.connections = connections
    self.threads = threads
  }

  /// Answers per second.
  package var rate: Double { seconds > 0 ? Double(counts.answered) / seconds : 0 }

  /// What the server took for one request, divided by what it cannot do without.
  package var ratio: Double? {
    guard let cost = server?.microsecondsPerRequest, let floor, floor.microseconds > 0 else { return nil }
    return cost / floor.microseconds
  }
}

/// How many requests there were, and what became of them.
package struct Counts: Sendable, Equatable {
  /// Answered as the workload expects, the expected refusals among them.
  package var good = 0
  /// Answered otherwise, or not at all because the connection broke.
  package var failed = 0
  /// Sent more than a millisecond after the intended time.
  package var late = 0
  /// Intended, but not sent before the run was over.
  package var unsent = 0
  /// Sent, but not answered before the run was over.
  package var unanswered = 0

  package init() {}

  package var answered: Int { good + failed }
}

/// Answers that were no success, by status and reason.
package struct Refusal: Sendable, Equatable {
  /// 0 where there was no answer.
  package var status: Int
  package var reason: String
  package var count: Int
  /// Whether the workload provokes it.
  package var isExpected: Bool

  package init(status: Int, reason: String, count: Int, isExpected: Bool) {
    self.status = status
    self.reason = reason
    self.count = count
    self.isExpected = isExpected
  }
}

/// One second of the run.
package struct Second: Sendable, Equatable {
  package var answered = 0
  /// The longest response time, in nanoseconds.
  package var worst = 0

  package init(answered: Int = 0, worst: Int = 0) {
    self.answered = answered
    self.worst = worst
  }
}

/// What the client itself needed.
package struct ClientUse: Sendable, Equatable {
  package var microsecondsPerRequest = 0.0
  /// The share of its time in which the busiest thread worked.
  package var busiest = 0.0

  package init() {}
}

/// What the server needed, as far as its process could be watched.
package struct ServerUse: Sendable, Equatable {
  /// CPU time per answered request, which is also milliseconds per thousand.
  package var microsecondsPerRequest: Double?
  /// Bytes of memory at most, since its start.
  package var peakBytes: Int?
  /// Bytes of memory before the first request.
  package var idleBytes: Int?
  /// From its start to accepting connections.
  package var readyMilliseconds: Double?

  package init() {}
}

/// What a request cannot do without, measured in the same run.
package struct Floor: Sendable, Equatable {
  /// One part: its name, and its CPU time in microseconds.
  package struct Part: Sendable, Equatable {
    package let name: String
    package let microseconds: Double

    package init(name: String, microseconds: Double) {
      self.name = name
      self.microseconds = microseconds
    }
  }

  package let parts: [Part]

  package init(parts: [Part]) { self.parts = parts }

  package var microseconds: Double { parts.reduce(0) { $0 + $1.microseconds } }
}

/// One rate that a search tried.
package struct Step: Sendable, Equatable {
  package let rate: Double
  /// 99th percentile of the response time, in nanoseconds.
  package let p99: Int
  package let isHeld: Bool

  package init(rate: Double, p99: Int, isHeld: Bool) {
    self.rate = rate
    self.p99 = p99
    self.isHeld = isHeld
  }
}
