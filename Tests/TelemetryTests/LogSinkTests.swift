import Domain
import Glibc
import Telemetry
import Testing
import Threads

@Suite(.timeLimit(.minutes(3)))
struct LogSinkTests {
  @Test(arguments: [0, Int32(O_NONBLOCK)])
  func `more than a pipe holds arrives whole, in blocking and non-blocking mode`(_ flags: Int32) async throws
  {
    let (reader, writer) = try pipeEnds(flags: flags)
    let read = Monitor(0)
    let thread = try DedicatedThread(name: "reader") {
      var buffer = [UInt8](repeating: 0, count: 4096)
      while true {
        var waiting = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
        poll(&waiting, 1, -1)
        let count = Glibc.read(reader, &buffer, buffer.count)
        guard count > 0 else { return }
        read.update { $0 += buffer.prefix(count).count { $0 == 10 } }
      }
    }
    let log = try log(to: writer, capacity: 20_000)
    for number in 0..<20_000 { log.info("line", [.number("n", Int64(number))]) }
    await log.stop()
    close(writer)
    await thread.ended()
    close(reader)
    #expect(read.read { $0 } == 20_000)
  }

  @Test func `a reader that has gone away harms nobody`() async throws {
    let (reader, writer) = try pipeEnds(flags: 0)
    close(reader)
    for _ in 0..<10 {
      let log = try log(to: writer, capacity: 100)
      log.info("line")
      await log.stop()
    }
    close(writer)
  }

  @Test func `a pipe that nobody reads holds up no caller`() async throws {
    let (reader, writer) = try pipeEnds(flags: 0)
    let log = try log(to: writer, capacity: 10)
    let line = String(repeating: "x", count: 10_000)
    for _ in 0..<1000 { log.info("line", [.text("x", line)]) }
    close(reader)
    await log.stop()
    close(writer)
  }

  private func log(to descriptor: Int32, capacity: Int) throws -> Log {
    try Log(
      threshold: .debug, capacity: capacity, clock: WallClock { UnixTime(0) }, sink: .descriptor(descriptor))
  }

  private func pipeEnds(flags: Int32) throws -> (reader: Int32, writer: Int32) {
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    for end in ends { try #require(fcntl(end, F_SETFD, FD_CLOEXEC) == 0) }
    for end in ends where flags != 0 {
      try #require(fcntl(end, F_SETFL, flags) == 0)
    }
    return (ends[0], ends[1])
  }
}
