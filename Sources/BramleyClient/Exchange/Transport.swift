package import Foundation

#if canImport(FoundationNetworking)
  package import FoundationNetworking
#endif

/// What carries requests to the service.
package protocol Transport: Sendable {
  /// The answer, whatever its status.
  ///
  /// - Throws: When there is none.
  func answer(to request: URLRequest) async throws -> TransportAnswer
}

/// Status, fields and body of an answer.
package struct TransportAnswer: Sendable {
  /// The HTTP status.
  package let status: Int
  /// By names in lower case.
  package let headers: [String: String]
  /// As it came.
  package let body: Data

  /// An answer of whoever makes one up.
  package init(status: Int, headers: [String: String] = [:], body: Data) {
    self.status = status
    self.headers = headers
    self.body = body
  }
}

/// Foundation's URL loading, without cookies and cache. Redirects are not followed, for they would take tokens along, and
/// an answer is at most 1 MiB.
package final class URLTransport: Transport {
  private let session: URLSession
  private let arrivals = Arrivals()

  /// One for the life of the app.
  package init() {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.timeoutIntervalForRequest = 30
    configuration.timeoutIntervalForResource = 60
    configuration.httpShouldSetCookies = false
    configuration.httpCookieAcceptPolicy = .never
    configuration.urlCache = nil
    session = URLSession(configuration: configuration, delegate: arrivals, delegateQueue: nil)
  }

  // The session holds what it tells until then.
  deinit { session.finishTasksAndInvalidate() }

  package func answer(to request: URLRequest) async throws -> TransportAnswer {
    try await arrivals.answer(to: session.dataTask(with: request))
  }
}

// A method whose type differs is none of the delegate's, and redirects would be followed.
#if canImport(Darwin)
  private typealias RedirectAnswer = @Sendable (URLRequest?) -> Void
#else
  private typealias RedirectAnswer = (URLRequest?) -> Void
#endif

/// What has come of each answer so far.
private final class Arrivals: NSObject, URLSessionDataDelegate {
  private struct Pending {
    let continuation: CheckedContinuation<TransportAnswer, any Error>
    var body = Data()
  }

  private static let limit = 1 << 20
  private let pending = Locked<[Int: Pending]>([:])

  /// Not ended by a cancelled task: what the service does with a request that nobody waits for is done all the same.
  func answer(to task: URLSessionDataTask) async throws -> TransportAnswer {
    try await withCheckedThrowingContinuation { continuation in
      pending.withLock { $0[task.taskIdentifier] = Pending(continuation: continuation) }
      task.resume()
    }
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    let tooLong = pending.withLock { pending -> Pending? in
      pending[dataTask.taskIdentifier]?.body.append(data)
      let length = pending[dataTask.taskIdentifier]?.body.count ?? 0
      return length > Self.limit ? pending.removeValue(forKey: dataTask.taskIdentifier) : nil
    }
    // At once: what is cancelled may still come to a good end.
    tooLong?.continuation.resume(throwing: URLError(.dataLengthExceedsMaximum))
    if tooLong != nil { dataTask.cancel() }
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping RedirectAnswer
  ) {
    completionHandler(nil)
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    guard let done = pending.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) else { return }
    guard error == nil, let response = task.response as? HTTPURLResponse else {
      return done.continuation.resume(throwing: error ?? URLError(.badServerResponse))
    }
    let fields = response.allHeaderFields.map { ("\($0.key)".lowercased(), "\($0.value)") }
    done.continuation.resume(
      returning: TransportAnswer(
        status: response.statusCode, headers: Dictionary(fields) { first, _ in first }, body: done.body))
  }
}
