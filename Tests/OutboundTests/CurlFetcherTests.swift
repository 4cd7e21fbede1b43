import Domain
import Glibc
import Outbound
import Testing
import Threads

@Suite(.timeLimit(.minutes(2)))
struct CurlFetcherTests {
  @Test func `an answer comes with its status, content type and body`() async throws {
    let server = try LoopbackServer(
      answering: answer("200 OK", ["Content-Type: application/json; charset=utf-8"], body: #"{"keys":[]}"#))
    let response = try await fetcher().fetch(.get(server.url + "/auth/keys"))
    #expect(
      response
        == FetchResponse(
          status: 200, contentType: "application/json; charset=utf-8", body: Array(#"{"keys":[]}"#.utf8)))
  }

  @Test func `what an answer says of time, and for how long not to come again, comes along`() async throws {
    let server = try LoopbackServer(
      answering: answer(
        "429 Too Many Requests",
        ["Date: Sun, 06 Nov 1994 08:49:37 GMT", "Cache-Control: no-store", "Retry-After: 120"], body: ""))
    let response = try await fetcher().fetch(.get(server.url))
    #expect(response.date == "Sun, 06 Nov 1994 08:49:37 GMT")
    #expect(response.cacheControl == "no-store")
    #expect(response.retryAfter == "120")
  }

  @Test func `a chunked answer is put together`() async throws {
    let server = try LoopbackServer(
      answering: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
    let response = try await fetcher().fetch(.get(server.url))
    #expect(response == FetchResponse(status: 200, contentType: nil, body: Array("abcde".utf8)))
  }

  @Test func `a POST arrives with its headers and body and nothing unasked`() async throws {
    let seen = Monitor("")
    let server = try LoopbackServer { peer in
      while let request = peer.request() {
        seen.update { $0 = request }
        peer.send(answer())
      }
    }
    let headers = [
      (name: "Content-Type", value: "application/x-www-form-urlencoded"), (name: "X-Empty", value: ""),
    ]
    _ = try await fetcher().fetch(.post(server.url + "/t?a=b", headers: headers, body: "code=a%2Bb&x=\u{0}é"))
    let expected = [
      "POST /t?a=b HTTP/1.1", "Host: 127.0.0.1:\(server.port)",
      "User-Agent: Bramley/1.2.3 (+Sign in with Apple bridge)", "Accept: */*",
      "Content-Type: application/x-www-form-urlencoded", "X-Empty:", "Content-Length: 16", "",
      "code=a%2Bb&x=\u{0}é",
    ]
    #expect(seen.read { $0 } == expected.joined(separator: "\r\n"))
  }

  @Test(arguments: ["", String(repeating: "x", count: 2_000_000)])
  func `a POST without headers of its own gets no content type and waits for no permission`(
    _ body: String
  ) async throws {
    let seen = Monitor("")
    let server = try LoopbackServer { peer in
      guard let request = peer.request() else { return }
      seen.update { $0 = request }
      peer.send(answer("204 No Content"))
    }
    let response = try await fetcher().fetch(.post(server.url, body: body))
    #expect(response.status == 204)
    let request = seen.read { $0 }
    #expect(request.headerValue("content-length") == "\(body.utf8.count)")
    #expect(request.headerValue("content-type") == nil)
    #expect(request.headerValue("expect") == nil)
  }

  @Test func `no compressed answer is asked for and one that comes is not unpacked`() async throws {
    let seen = Monitor("")
    let server = try LoopbackServer { peer in
      guard let request = peer.request() else { return }
      seen.update { $0 = request }
      peer.send(answer("200 OK", ["Content-Encoding: gzip"], body: "packed"))
    }
    let response = try await fetcher().fetch(.get(server.url))
    #expect(seen.read { $0 }.headerValue("accept-encoding") == nil)
    #expect(response.body == Array("packed".utf8))
  }

  @Test func `a redirect is an answer and is not followed`() async throws {
    let server = try LoopbackServer(answering: answer("302 Found", ["Location: /elsewhere"], body: "moved"))
    let response = try await fetcher().fetch(.get(server.url))
    #expect(response == FetchResponse(status: 302, contentType: nil, body: Array("moved".utf8)))
    #expect(server.connections.count == 1)
  }

  @Test func `requests one after another share a connection`() async throws {
    let server = try LoopbackServer(answering: answer(body: "x"))
    let fetcher = try fetcher()
    for _ in 0..<10 { #expect(try await fetcher.fetch(.get(server.url)).status == 200) }
    #expect(server.connections.count == 1)
  }

  @Test func `no cookie of an answer comes back`() async throws {
    let seen = Monitor([String?]())
    let server = try LoopbackServer { peer in
      while let request = peer.request() {
        seen.update { $0.append(request.headerValue("cookie")) }
        peer.send(answer("200 OK", ["Set-Cookie: a=b; Path=/"]))
      }
    }
    let fetcher = try fetcher()
    for _ in 0..<2 { _ = try await fetcher.fetch(.get(server.url)) }
    #expect(seen.read { $0 } == [nil, nil])
  }

  @Test func `five hundred requests at once are all answered`() async throws {
    let server = try LoopbackServer { peer in
      while let request = peer.request() {
        peer.send(answer(body: String(request.split(separator: " ")[1].dropFirst())))
      }
    }
    let fetcher = try fetcher(limit: 500)
    let bodies = try await withThrowingTaskGroup(of: [UInt8].self) { group in
      for number in 0..<500 {
        group.addTask { try await fetcher.fetch(.get("\(server.url)/\(number)")).body }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    let numbers = bodies.compactMap { Int(String(decoding: $0, as: UTF8.self)) }
    #expect(numbers.sorted() == Array(0..<500))
  }

  @Test func `no proxy of the environment is used`() async throws {
    // A process of its own: the environment belongs to all tests.
    await #expect(processExitsWith: .success) {
      for name in ["http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"] {
        setenv(name, "http://127.0.0.1:1", 1)
      }
      let server = try LoopbackServer(answering: answer())
      let fetcher = try CurlFetcher(version: "1", limit: 1, authorityFile: nil)
      let response = try await fetcher.fetch(.get(server.url))
      exit(response.status == 200 ? 0 : 1)
    }
  }

  private func fetcher(limit: Int = 8) throws -> CurlFetcher {
    try CurlFetcher(version: "1.2.3", limit: limit, authorityFile: nil)
  }
}
