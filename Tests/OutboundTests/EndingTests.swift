import Domain
import Outbound
import Testing

@Suite(.timeLimit(.minutes(2)))
struct EndingTests {
  @Test func `a stop ends every request under way and takes no new one`() async throws {
    let received = Tally()
    let closed = Tally()
    let server = try LoopbackServer(silentWith: closed, received: received)
    let fetcher = try CurlFetcher(version: "1", limit: 100, authorityFile: nil)
    let errors = await withTaskGroup(of: FetchError?.self) { group in
      for _ in 0..<100 {
        group.addTask {
          await failure { () async throws(FetchError) in try await fetcher.fetch(.get(server.url)) }
        }
      }
      await received.reaches(100)
      await fetcher.stop()
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(errors == Array(repeating: .shuttingDown, count: 100))
    await closed.reaches(100)
    let late = await failure { () async throws(FetchError) in try await fetcher.fetch(.get(server.url)) }
    #expect(late == .shuttingDown)
    await fetcher.stop()
  }

  @Test func `requests that race with a stop are each answered once`() async throws {
    let server = try LoopbackServer(answering: answer())
    for _ in 0..<20 {
      let fetcher = try CurlFetcher(version: "1", limit: 100, authorityFile: nil)
      let errors = await withTaskGroup(of: FetchError?.self) { group in
        for _ in 0..<20 {
          group.addTask {
            await failure { () async throws(FetchError) in try await fetcher.fetch(.get(server.url)) }
          }
        }
        await fetcher.stop()
        return await group.reduce(into: []) { $0.append($1) }
      }
      #expect(errors.count == 20)
      #expect(errors.allSatisfy { $0 == nil || $0 == .shuttingDown })
    }
  }

  @Test func `a cancelled caller is let go and its connection closed`() async throws {
    let received = Tally()
    let closed = Tally()
    let server = try LoopbackServer(silentWith: closed, received: received)
    let fetcher = try CurlFetcher(version: "1", limit: 8, authorityFile: nil)
    let task = Task {
      await failure { () async throws(FetchError) in try await fetcher.fetch(.get(server.url)) }
    }
    await received.reaches(1)
    task.cancel()
    #expect(await task.value == .shuttingDown)
    await closed.reaches(1)
  }

  @Test func `a caller that was cancelled before sends nothing`() async throws {
    let server = try LoopbackServer(answering: answer())
    let fetcher = try CurlFetcher(version: "1", limit: 8, authorityFile: nil)
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return await failure { () async throws(FetchError) in try await fetcher.fetch(.get(server.url)) }
    }
    #expect(await task.value == .shuttingDown)
    await fetcher.stop()
    #expect(server.connections.count == 0)
  }

  @Test func `one request over the limit fails at once and there is room again afterwards`() async throws {
    let received = Tally()
    let silent = try LoopbackServer(silentWith: Tally(), received: received)
    let server = try LoopbackServer(answering: answer())
    let fetcher = try CurlFetcher(version: "1", limit: 2, authorityFile: nil)
    let tasks = (0..<2).map { _ in
      Task { await failure { () async throws(FetchError) in try await fetcher.fetch(.get(silent.url)) } }
    }
    await received.reaches(2)
    let refused = await failure { () async throws(FetchError) in try await fetcher.fetch(.get(server.url)) }
    #expect(refused == .couldNotConnect)
    for task in tasks { task.cancel() }
    for task in tasks { #expect(await task.value == .shuttingDown) }
    // The loop learns of a cancellation a moment after the caller: refused until then, never stuck.
    var answered: FetchError? = .couldNotConnect
    while answered == .couldNotConnect {
      answered = await failure { () async throws(FetchError) in try await fetcher.fetch(.get(server.url)) }
    }
    #expect(answered == nil)
  }

  @Test func `a hundred fetchers come and go, with a stop or without`() async throws {
    let server = try LoopbackServer(answering: answer())
    for round in 0..<100 {
      let fetcher = try CurlFetcher(version: "1", limit: 8, authorityFile: nil)
      #expect(try await fetcher.fetch(.get(server.url)).status == 200)
      if round % 2 == 0 { await fetcher.stop() }
    }
  }
}
