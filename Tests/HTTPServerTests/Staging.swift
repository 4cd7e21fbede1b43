import Foundation
import HTTPServer
import Synchronization

/// Runs blocking client code on a thread of its own: the shared pool has as many threads as the machine has
/// cores, and the responders under test need them.
func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
  }
}

/// Waits until something is true that no continuation tells.
func eventually(_ condition: @Sendable () -> Bool) async throws {
  while !condition() { try await Task.sleep(for: .milliseconds(1)) }
}

/// A door that is closed until it is opened, for good.
final class Gate: Sendable {
  private struct State {
    var isOpen = false
    var waiters: [CheckedContinuation<Void, Never>] = []
    var arrivals = 0
  }
  private let state = Mutex(State())

  /// How many have come to the door.
  var arrivals: Int { state.withLock { $0.arrivals } }

  func pass() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        state.arrivals += 1
        if !state.isOpen { state.waiters.append(continuation) }
        return state.isOpen
      }
      if isOpen { continuation.resume() }
    }
  }

  func open() {
    let waiters = state.withLock { state in
      state.isOpen = true
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
  }
}

/// What was seen on other threads.
final class Record<Value: Sendable>: Sendable {
  private let state = Mutex<[Value]>([])
  var values: [Value] { state.withLock { $0 } }
  func append(_ value: Value) { state.withLock { $0.append(value) } }
}

extension ListenerConfiguration {
  static func test(_ change: (inout ListenerConfiguration) -> Void = { _ in }) -> ListenerConfiguration {
    var configuration = ListenerConfiguration(
      host: "127.0.0.1", port: 0, threads: 2, connectionLimit: 2000, bodyLimit: 1024,
      bodyMemoryLimit: 64 << 20, connectionMemoryLimit: 32 * 1024, idleSeconds: 30, headSeconds: 30,
      deadline: .seconds(30),
      maxRequestsInFlight: 1000, tls: nil)
    change(&configuration)
    return configuration
  }
}

@Sendable func refusalInTests(_ reason: ListenerRefusal, _ request: Request?) -> Response {
  let status =
    switch reason {
    case .requestMalformed: 400
    case .headerTooLarge: 431
    case .bodyTooLarge: 413
    case .requestTimeout: 408
    case .deadlineExceeded: 504
    case .overloaded, .shuttingDown: 503
    }
  return Response(status: status, headers: ["X-Refused": "\(reason)"], body: Array("refused".utf8))
}

@Sendable func echo(_ request: Request) async -> Response {
  Response(status: 200, headers: ["X-Path": request.path], body: request.body)
}

/// A listener for the length of a test.
func withListener<Value>(
  _ configuration: ListenerConfiguration = .test(),
  respond: @escaping @Sendable (Request) async -> Response = echo,
  _ body: (HTTPListener) async throws -> Value
) async throws -> Value {
  let listener = try HTTPListener(configuration, refusal: refusalInTests, respond: respond)
  do {
    let value = try await body(listener)
    await listener.stop(within: .seconds(10))
    return value
  } catch {
    await listener.stop(within: .zero)
    throw error
  }
}
