internal import Domain
internal import Threads

/// What came of a request.
typealias Outcome = Result<FetchResponse, FetchError>

/// One request and the caller that waits for its answer.
///
/// Whoever finishes it first decides the outcome: the loop, a cancelled caller, or the stop. The continuation
/// is resumed exactly once because only that first one takes it out.
final class Exchange: Sendable {
  private enum Phase: Sendable {
    case new
    case waiting(CheckedContinuation<Outcome, Never>)
    case finished(Outcome)
  }

  let request: FetchRequest
  private let phase = Monitor(Phase.new)

  init(_ request: FetchRequest) {
    self.request = request
  }

  var isFinished: Bool {
    phase.read { phase in
      if case .finished = phase { true } else { false }
    }
  }

  /// Keeps the caller until the outcome is known.
  ///
  /// - Returns: False when it was known already; the caller has its answer then and nothing need be sent.
  func begin(_ continuation: CheckedContinuation<Outcome, Never>) -> Bool {
    let known: Outcome? = phase.update { phase in
      if case .finished(let outcome) = phase { return outcome }
      phase = .waiting(continuation)
      return nil
    }
    guard let known else { return true }
    continuation.resume(returning: known)
    return false
  }

  /// Decides the outcome unless it is decided.
  func finish(_ outcome: Outcome) {
    let waiting: CheckedContinuation<Outcome, Never>? = phase.update { phase in
      switch phase {
      case .new:
        phase = .finished(outcome)
        return nil
      case .waiting(let continuation):
        phase = .finished(outcome)
        return continuation
      case .finished:
        return nil
      }
    }
    waiting?.resume(returning: outcome)
  }
}
