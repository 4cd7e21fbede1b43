/// When requests are to be sent.
///
/// In an open loop arrivals do not depend on answers, as with people who do not know of each other. Each request has
/// an intended time, and its response time counts from there: a server that stalls for a second is charged with every
/// request that should have been sent meanwhile. To count from the real sending instead is the mistake known as
/// coordinated omission (Gil Tene, "How NOT to Measure Latency").
package enum Arrival: Sendable, Equatable {
  /// Requests per second.
  case constant(Double)
  /// From one rate to another, evenly over the run.
  case ramp(from: Double, to: Double)
  /// Closed loop: each connection sends when it has its answer.
  case closed
  /// All connections at the same moment, and again when all have their answers.
  case volleys

  package var isOpen: Bool {
    switch self {
    case .constant, .ramp: true
    case .closed, .volleys: false
    }
  }

  /// For a person.
  package func words(connections: Int) -> String {
    switch self {
    case .constant(let rate): "open loop, \(shortNumber(rate))/s"
    case .ramp(let from, let to): "open loop, ramp from \(shortNumber(from)) to \(shortNumber(to))/s"
    case .closed: "closed loop, \(connections) connections back to back"
    case .volleys: "volleys of \(connections) at the same moment"
    }
  }
}

private func shortNumber(_ value: Double) -> String {
  value == value.rounded() ? String(Int(value)) : String(value)
}

/// The intended times of an open loop: a pure function of the number of a request.
package struct Schedule: Sendable, Equatable {
  private let first: Double
  private let last: Double
  /// Nanoseconds of warm-up at the first rate, and of what is recorded behind it.
  package let warmUp: Int
  package let duration: Int
  private let warmUpCount: Int

  /// - Parameter duration: Of the recorded part, in nanoseconds.
  package init(_ arrival: Arrival, warmUp: Int, duration: Int) {
    switch arrival {
    case .constant(let rate): (first, last) = (rate, rate)
    case .ramp(let from, let to): (first, last) = (from, to)
    case .closed, .volleys: (first, last) = (0, 0)
    }
    self.warmUp = warmUp
    self.duration = duration
    warmUpCount = Int((first * Double(warmUp) / 1e9).rounded())
  }

  /// Requests of the warm-up and of the recorded part together.
  package var count: Int { warmUpCount + Int(((first + last) / 2 * Double(duration) / 1e9).rounded()) }

  /// Requests of the warm-up, which come first.
  package var warmUpRequests: Int { warmUpCount }

  /// Nanoseconds from the beginning to the intended time of a request, counted from 0.
  package func intended(_ number: Int) -> Int {
    guard number >= warmUpCount else { return Int(Double(number) / first * 1e9) }
    let number = Double(number - warmUpCount)
    guard first != last else { return warmUp + Int(number / first * 1e9) }
    // After t seconds of a ramp from a to b over d there were n = a·t + (b - a)·t²/2d requests; solved for t in the
    // form that has no difference of near numbers.
    let slope = (last - first) / (Double(duration) / 1e9)
    let root = (first * first + 2 * slope * number).squareRoot()
    return warmUp + Int(2 * number / (first + root) * 1e9)
  }
}
