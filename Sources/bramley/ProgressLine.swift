internal import Assembly
internal import Domain
internal import Glibc
internal import Synchronization

/// Says on a terminal how far a long work has come, and anywhere what it waits for.
final class ProgressLine: Sendable {
  private struct State {
    var shownAt: SteadyTime?
    var complaints: [String: SteadyTime] = [:]
  }

  private let isTerminal = isatty(STDERR_FILENO) == 1
  private let state = Mutex(State())

  /// Milliseconds between two lines.
  private static let interval: Int64 = 200
  /// Milliseconds between two complaints of one kind.
  private static let complaintInterval: Int64 = 60_000

  func show(_ text: @autoclosure () -> String) {
    guard isTerminal else { return }
    let now = SteadyClock.system.now()
    let isTime = state.withLock { state in
      if let last = state.shownAt, now.milliseconds(since: last) < Self.interval { return false }
      state.shownAt = now
      return true
    }
    guard isTime else { return }
    _ = writeAll(Array("\r\(text())".utf8), to: STDERR_FILENO)
  }

  /// Of each kind once a minute.
  func complain(_ word: String) {
    let now = SteadyClock.system.now()
    let isNews = state.withLock { state in
      if let last = state.complaints[word], now.milliseconds(since: last) < Self.complaintInterval {
        return false
      }
      state.complaints[word] = now
      return true
    }
    guard isNews else { return }
    end()
    bramley.complain("Apple does not do it now (\(word)); waiting")
  }

  /// - Parameter count: Calls that are waited for before it stops.
  func stop(after count: Int) {
    end()
    let calls = count == 1 ? "1 call" : "\(count) calls"
    bramley.complain(count == 0 ? "stopping" : "stopping, waiting for \(calls)")
  }

  /// Leaves the line for others.
  func end() {
    let isShown = state.withLock { state in
      defer { state.shownAt = nil }
      return state.shownAt != nil
    }
    if isShown { _ = writeAll([0x0A], to: STDERR_FILENO) }
  }
}
