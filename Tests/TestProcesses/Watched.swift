import Foundation

/// A value behind a lock that tasks wait on without holding a thread.
package final class Watched<State: Sendable>: @unchecked Sendable {
  private struct Waiting {
    let resume: (State) -> Bool
    let cancel: () -> Void
  }

  private let lock = NSLock()
  private var state: State
  private var waiting: [Int: Waiting] = [:]
  private var nextID = 0

  package init(_ state: State) { self.state = state }

  /// Reads the value.
  package func read<R>(_ body: (State) -> R) -> R { lock.withLock { body(state) } }

  /// Changes the value and resumes whoever waited for that.
  @discardableResult
  package func update<R>(_ body: (inout State) -> R) -> R {
    lock.withLock {
      let result = body(&state)
      waiting = waiting.filter { !$0.value.resume(state) }
      return result
    }
  }

  /// The first thing that `look` finds, now or after a change; a cancelled wait throws.
  package func first<R: Sendable>(_ look: @escaping @Sendable (State) -> R?) async throws -> R {
    let id = lock.withLock {
      nextID += 1
      return nextID
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        lock.withLock {
          if Task.isCancelled {
            continuation.resume(throwing: CancellationError())
          } else if let found = look(state) {
            continuation.resume(returning: found)
          } else {
            waiting[id] = Waiting(
              resume: { state in
                guard let found = look(state) else { return false }
                continuation.resume(returning: found)
                return true
              },
              cancel: { continuation.resume(throwing: CancellationError()) })
          }
        }
      }
    } onCancel: {
      lock.withLock { waiting.removeValue(forKey: id)?.cancel() }
    }
  }
}

/// Runs work that blocks on a thread of its own: the shared pool has as few threads as the machine has cores.
package func onThread<R: Sendable>(_ work: @escaping @Sendable () throws -> R) async throws -> R {
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread { continuation.resume(with: Result(catching: work)) }
  }
}

/// The same, for work that may fail as a part of the test.
package func onThreadResult<R: Sendable>(_ work: @escaping @Sendable () throws -> R) async -> Result<
  R, any Error
> {
  do {
    return .success(try await onThread(work))
  } catch {
    return .failure(error)
  }
}
