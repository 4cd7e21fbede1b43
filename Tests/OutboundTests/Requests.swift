import Domain
import Outbound

extension FetchRequest {
  /// A request with limits that no test runs into unless it says so.
  static func get(_ url: String, totalMilliseconds: Int64 = 30_000, bodyLimit: Int = 1_000_000)
    -> FetchRequest
  {
    FetchRequest(
      url: url, connectMilliseconds: 10_000, totalMilliseconds: totalMilliseconds, bodyLimit: bodyLimit)
  }

  static func post(
    _ url: String, headers: [(name: String, value: String)] = [], body: String
  ) -> FetchRequest {
    FetchRequest(
      method: .post, url: url, headers: headers, body: Array(body.utf8), connectMilliseconds: 10_000,
      totalMilliseconds: 30_000, bodyLimit: 1_000_000)
  }
}

/// The error that the body throws; nil when it throws none.
func failure(
  _ body: () async throws(FetchError) -> FetchResponse
) async -> FetchError? {
  do {
    _ = try await body()
    return nil
  } catch {
    return error
  }
}

/// An answer with a length, after which the connection stays open.
func answer(_ status: String = "200 OK", _ headers: [String] = [], body: String = "") -> String {
  (["HTTP/1.1 \(status)", "Content-Length: \(body.utf8.count)"] + headers + ["", body]).joined(
    separator: "\r\n")
}

extension LoopbackServer {
  /// Gives every request the same answer.
  convenience init(answering text: String) throws {
    try self.init { peer in while peer.request() != nil { peer.send(text) } }
  }

  /// Takes a request and then writes something that need not be an answer, and closes.
  convenience init(sayingOnce text: String) throws {
    try self.init { peer in
      guard peer.request() != nil else { return }
      peer.send(text)
    }
  }

  /// Takes requests and never answers; counts the connections that the client closed.
  convenience init(silentWith closed: Tally, received: Tally = Tally(), first text: String = "") throws {
    try self.init { peer in
      guard peer.request() != nil else { return }
      peer.send(text)
      received.add()
      peer.waitForClose()
      closed.add()
    }
  }
}
