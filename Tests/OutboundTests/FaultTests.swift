import Domain
import Glibc
import Outbound
import Testing

@Suite(.timeLimit(.minutes(2)))
struct FaultTests {
  @Test func `a body of just the limit is taken`() async throws {
    let server = try LoopbackServer(answering: answer(body: "12345"))
    #expect(try await fetcher().fetch(.get(server.url, bodyLimit: 5)).body.count == 5)
  }

  @Test func `a body that is announced too large is refused before it comes`() async throws {
    let closed = Tally()
    let server = try LoopbackServer(
      silentWith: closed, first: "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n")
    #expect(try await error(.get(server.url, bodyLimit: 5)) == .bodyTooLarge)
    await closed.reaches(1)
  }

  @Test func `a body without end is cut off at the limit`() async throws {
    let ended = Tally()
    let server = try LoopbackServer { peer in
      guard peer.request() != nil else { return }
      var isOpen = peer.send("HTTP/1.1 200 OK\r\n\r\n")
      while isOpen { isOpen = peer.send(String(repeating: "x", count: 4096)) }
      ended.add()
    }
    #expect(try await error(.get(server.url, bodyLimit: 100_000)) == .bodyTooLarge)
    await ended.reaches(1)
  }

  @Test func `no body at all may be asked for`() async throws {
    let empty = try LoopbackServer(answering: answer())
    let full = try LoopbackServer(answering: answer(body: "x"))
    #expect(try await error(.get(empty.url, bodyLimit: 0)) == nil)
    #expect(try await error(.get(full.url, bodyLimit: 0)) == .bodyTooLarge)
  }

  @Test(arguments: ["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"])
  func `an answer that stalls is given up at the total limit`(_ beginning: String) async throws {
    let closed = Tally()
    let server = try LoopbackServer(silentWith: closed, first: beginning)
    #expect(try await error(.get(server.url, totalMilliseconds: 300)) == .timedOut)
    await closed.reaches(1)
  }

  @Test func `a refused connection could not be made`() async throws {
    let (socket, port) = try boundSocket()
    defer { close(socket) }
    #expect(try await error(.get("http://127.0.0.1:\(port)/")) == .couldNotConnect)
  }

  @Test func `a name that does not exist could not be connected to`() async throws {
    #expect(try await error(.get("https://nobody.invalid/")) == .couldNotConnect)
  }

  @Test(arguments: [
    "SSH-2.0-OpenSSH\r\n", "", "\r\n\r\n", "HTTP/1.1 abc OK\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
  ])
  func `an answer that is no HTTP or breaks off is broken`(_ text: String) async throws {
    let server = try LoopbackServer(sayingOnce: text)
    #expect(try await error(.get(server.url)) == .broken)
  }

  @Test func `headers without end are broken`() async throws {
    let ended = Tally()
    let server = try LoopbackServer { peer in
      guard peer.request() != nil else { return }
      var isOpen = peer.send("HTTP/1.1 200 OK\r\n")
      while isOpen { isOpen = peer.send("X-More: \(String(repeating: "x", count: 1000))\r\n") }
      ended.add()
    }
    #expect(try await error(.get(server.url)) == .broken)
    await ended.reaches(1)
  }

  @Test(arguments: [
    ("X-A", "b\r\nX-C: d"), ("X-A", "b\nX-C: d"), ("X-A", "b\u{0}"), ("X A", "b"), ("X-A:", "b"), ("", "b"),
    ("X-A\r\nX-B", "c"),
  ])
  func `a header that would be two lines is not sent`(_ name: String, _ value: String) async throws {
    let server = try LoopbackServer(answering: answer())
    let request = FetchRequest.post(server.url, headers: [(name: name, value: value)], body: "")
    #expect(try await error(request) == .broken)
    #expect(server.connections.count == 0)
  }

  @Test func `a thousand failures leave nothing behind`() async throws {
    let (socket, port) = try boundSocket()
    defer { close(socket) }
    let fetcher = try fetcher()
    for _ in 0..<1000 {
      let error = await failure { () async throws(FetchError) in
        try await fetcher.fetch(.get("http://127.0.0.1:\(port)/"))
      }
      #expect(error == .couldNotConnect)
    }
    await fetcher.stop()
  }

  private func fetcher() throws -> CurlFetcher {
    try CurlFetcher(version: "1", limit: 8, authorityFile: nil)
  }

  private func error(_ request: FetchRequest) async throws -> FetchError? {
    let fetcher = try fetcher()
    return await failure { () async throws(FetchError) in try await fetcher.fetch(request) }
  }
}
