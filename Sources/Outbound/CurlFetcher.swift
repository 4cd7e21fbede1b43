package import Domain

/// Outgoing HTTP over libcurl, on one thread of its own.
///
/// https to any host, with the certificate and the host name verified, TLS 1.2 or newer; http only to a
/// loopback address written as such. No redirect is followed, no proxy, cookie or password file of the
/// environment is used, and no compressed answer is asked for, so the body limit is the limit of memory.
package final class CurlFetcher: HTTPFetching {
  private let loop: TransferLoop

  /// Starts the thread.
  ///
  /// - Parameters:
  ///   - version: Bramley's own, for the `User-Agent` line.
  ///   - limit: The most requests at a time, each of which holds one connection; one more fails at once with
  ///     ``FetchError/couldNotConnect``.
  ///   - authorityFile: A PEM file with the certificate authorities to trust in place of the system's; nil for
  ///     the system's.
  package init(version: String, limit: Int, authorityFile: String?) throws(OutboundError) {
    let userAgent = "Bramley/\(version) (+Sign in with Apple bridge)"
    loop = try TransferLoop(limit: limit, userAgent: userAgent, authorityFile: authorityFile)
  }

  /// Whether ``fetch(_:)`` would take the URL.
  package static func admits(_ url: String) -> Bool { Address(url: url) != nil }

  /// Sends the request and waits for the whole answer.
  ///
  /// A caller whose task is cancelled gets ``FetchError/shuttingDown`` at once and its connection is closed.
  ///
  /// - Throws: ``FetchError/addressNotAllowed`` before any connection, for a URL that is not plainly admitted;
  ///   ``FetchError/broken`` for a header that would not be one line, and for an answer with more than 64 KiB
  ///   of header lines.
  package func fetch(_ request: FetchRequest) async throws(FetchError) -> FetchResponse {
    guard Address(url: request.url) != nil else { throw .addressNotAllowed }
    guard areWritable(request.headers) else { throw .broken }
    let exchange = Exchange(request)
    let outcome = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        guard exchange.begin(continuation) else { return }
        if let refusal = loop.submit(exchange) { exchange.finish(.failure(refusal)) }
      }
    } onCancel: {
      exchange.finish(.failure(.shuttingDown))
      loop.drop(exchange)
    }
    return try outcome.get()
  }

  /// Takes no more requests, fails those under way with ``FetchError/shuttingDown`` and ends the thread.
  ///
  /// May be called more than once; every caller returns after the last request has its answer.
  package func stop() async {
    await loop.stop()
  }
}
