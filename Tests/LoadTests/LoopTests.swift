import Glibc
import Load
import LoadReport
import Testing
import Threads

/// A server on a free port of 127.0.0.1 whose one thread at a time answers over all of its connections, so that a
/// stall is everybody's.
private final class StallingServer: Sendable {
  let port: UInt16
  private let listener: Int32

  /// - Parameter respond: What to do before the answer with this number; false closes the connection in its place.
  init(_ respond: @escaping @Sendable (Int) -> Bool) throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | O_CLOEXEC, 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let bound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, length) == 0 && getsockname(listener, $0, &length) == 0
      }
    }
    try #require(bound && listen(listener, 64) == 0)
    self.listener = listener
    port = UInt16(bigEndian: address.sin_port)
    let answered = Monitor(0)
    _ = try DedicatedThread(name: "stalling") {
      while true {
        let connection = accept(listener, nil, nil)
        guard connection >= 0 else { return }
        _ = try? DedicatedThread(name: "peer") {
          serve(connection, answered, respond)
          close(connection)
        }
      }
    }
  }

  deinit {
    shutdown(listener, Int32(SHUT_RDWR))
    close(listener)
  }

  var endpoint: Endpoint {
    get throws { try Endpoint(url: "http://127.0.0.1:\(port)", allowsRemote: false) }
  }
}

private func serve(_ connection: Int32, _ answered: Monitor<Int>, _ respond: (Int) -> Bool) {
  var buffer = [UInt8](repeating: 0, count: 4096)
  let answer = Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}".utf8)
  while recv(connection, &buffer, buffer.count, 0) > 0 {
    // Inside the lock: a stall holds up the other connections too.
    let goesOn = answered.update { count in
      count += 1
      return respond(count)
    }
    guard goesOn, send(connection, answer, answer.count, Int32(MSG_NOSIGNAL)) == answer.count else { return }
  }
}

private func count(_ histogram: Histogram, above nanoseconds: Int) -> Int {
  histogram.cells.reduce(0) { $0 + ($1.upperEnd > nanoseconds ? $1.count : 0) }
}

@Suite struct LoopTests {
  private func run(
    _ arrival: Arrival, _ server: StallingServer, connections: Int = 2, milliseconds: Int = 1000,
    count: Int? = nil
  ) throws -> LoadOutcome {
    try runLoad(
      .get(path: "/"),
      LoadPlan(
        arrival: arrival, connections: connections, threads: 1, warmUp: 0, duration: milliseconds * 1_000_000,
        count: count), name: "", against: server.endpoint, server: nil, stop: StopFlag())
  }

  @Test func `a stall is charged with every request that should have been sent meanwhile`() throws {
    let server = try StallingServer { number in
      if number == 100 { usleep(400_000) }
      return true
    }
    let report = try run(.constant(500), server).report
    // 150 requests were due in the first 300 of those 400 milliseconds; two connections could send two of them.
    #expect(count(report.response, above: 100_000_000) >= 140)
    #expect(count(report.service, above: 100_000_000) < count(report.response, above: 100_000_000))
    #expect(report.counts.late >= 140)
    #expect(report.counts.answered + report.counts.unsent + report.counts.unanswered == 500)
  }

  @Test func `a server that never answers leaves requests unanswered and unsent, and the run ends`() throws {
    let server = try StallingServer { _ in
      usleep(60_000_000)
      return true
    }
    let stop = StopFlag()
    let plan = LoadPlan(arrival: .constant(100), connections: 2, threads: 1, warmUp: 0, duration: 300_000_000)
    let report = try runLoad(
      .get(path: "/"), plan, name: "", against: server.endpoint, server: nil, stop: stop
    ).report
    #expect(report.counts.answered == 0)
    #expect(report.counts.unanswered == 2)
    #expect(report.counts.unsent == 28)
    #expect(report.response.count == 30)
  }

  @Test func `a connection that breaks is an error, and is opened again`() throws {
    let server = try StallingServer { $0 % 10 != 0 }
    let report = try run(.closed, server, count: 100).report
    #expect(report.counts.answered == 100)
    #expect(report.counts.failed == 10)
    #expect(report.refusals.map(\.reason) == ["connection_broken"])
  }

  @Test func `volleys are sent over all connections`() throws {
    let server = try StallingServer { _ in true }
    let report = try run(.volleys, server, connections: 5, count: 3).report
    #expect(report.counts.good == 15)
  }

  @Test func `a closed loop says that it is one`() throws {
    let server = try StallingServer { _ in true }
    let report = try run(.closed, server, count: 10).report
    #expect(report.isClosedLoop)
    #expect(report.counts.good == 10)
    #expect(try run(.constant(100), server, count: 10).report.isClosedLoop == false)
  }

  @Test func `a run that is stopped ends, and says so`() throws {
    let server = try StallingServer { _ in true }
    let stop = StopFlag()
    stop.set()
    let plan = LoadPlan(arrival: .closed, connections: 1, threads: 1, warmUp: 0, duration: 600_000_000_000)
    let outcome = try runLoad(
      .get(path: "/"), plan, name: "", against: server.endpoint, server: nil, stop: stop)
    #expect(outcome.wasStopped)
    #expect(outcome.report.warnings.contains { $0.contains("stopped") })
  }
}

@Suite struct EndpointTests {
  @Test(arguments: [
    "http://127.0.0.1:80", "http://127.8.9.1:80/", "http://[::1]:80", "http://localhost:65535",
  ])
  func `this machine may be meant`(_ url: String) throws {
    _ = try Endpoint(url: url, allowsRemote: false)
  }

  @Test(arguments: ["http://192.0.2.1:80", "http://0.0.0.0:80", "http://[2001:db8::1]:80", "http://[::]:80"])
  func `another machine may be meant only with leave`(_ url: String) throws {
    #expect(throws: LoadError.self) { try Endpoint(url: url, allowsRemote: false) }
    _ = try Endpoint(url: url, allowsRemote: true)
  }

  @Test(arguments: [
    "", "127.0.0.1:80", "https://127.0.0.1:80", "http://127.0.0.1", "http://127.0.0.1:0",
    "http://127.0.0.1:99999",
    "http://127.0.0.1:80/path", "http://user@127.0.0.1:80", "http://:80",
  ])
  func `what is no address is refused`(_ url: String) {
    #expect(throws: LoadError.self) { try Endpoint(url: url, allowsRemote: true) }
  }
}
