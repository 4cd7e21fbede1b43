import Domain
import Synchronization

/// Plays a script of answers, one a call; a call that the script does not have ends the tests.
package final class ScriptedFetcher: HTTPFetching {
  /// One answer.
  package enum Step: Sendable {
    case answer(FetchResponse)
    case failure(FetchError)
    /// Answers when ``ScriptedFetcher/release(_:)`` is called.
    case held
  }

  private struct State {
    var steps: [Step]
    var requests: [FetchRequest] = []
    var held: [CheckedContinuation<FetchResponse, Never>] = []
    var released: [FetchResponse] = []
  }

  private let state: Mutex<State>

  package init(_ steps: [Step]) {
    state = Mutex(State(steps: steps))
  }

  /// Every call so far.
  package var requests: [FetchRequest] { state.withLock { $0.requests } }

  package func add(_ step: Step) { state.withLock { $0.steps.append(step) } }

  /// Gives the oldest call that is held its answer, or the next one that will be.
  package func release(_ response: FetchResponse) {
    let waiting: CheckedContinuation<FetchResponse, Never>? = state.withLock { state in
      guard state.held.isEmpty else { return state.held.removeFirst() }
      state.released.append(response)
      return nil
    }
    waiting?.resume(returning: response)
  }

  package func fetch(_ request: FetchRequest) async throws(FetchError) -> FetchResponse {
    let step: Step? = state.withLock { state in
      state.requests.append(request)
      return state.steps.isEmpty ? nil : state.steps.removeFirst()
    }
    switch step {
    case .answer(let response): return response
    case .failure(let error): throw error
    case .held: return await heldAnswer()
    case nil:
      // Not a recorded issue: this target is also built where there is no testing library.
      preconditionFailure("unexpected fetch of \(request.url)")
    }
  }

  private func heldAnswer() async -> FetchResponse {
    await withCheckedContinuation { continuation in
      let response: FetchResponse? = state.withLock { state in
        guard state.released.isEmpty else { return state.released.removeFirst() }
        state.held.append(continuation)
        return nil
      }
      if let response { continuation.resume(returning: response) }
    }
  }
}

extension FetchResponse {
  /// A JSON answer.
  package static func json(_ body: [UInt8], status: Int = 200) -> FetchResponse {
    FetchResponse(status: status, contentType: "application/json", body: body)
  }
}
