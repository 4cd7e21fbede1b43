import Glibc
import Testing
import Threads

@Suite(.timeLimit(.minutes(3)))
struct DedicatedThreadTests {
  @Test func `a thread carries the first fifteen bytes of its name`() throws {
    let name = Monitor("")
    let thread = try DedicatedThread(name: "a-name-that-is-too-long") {
      let file = fopen("/proc/thread-self/comm", "r")
      var line = [CChar](repeating: 0, count: 64)
      fgets(&line, 64, file)
      fclose(file)
      let text = String(
        decoding: line.prefix { $0 != 0 && $0 != 10 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
      name.update { $0 = text }
    }
    thread.join()
    #expect(name.read { $0 } == "a-name-that-is-")
  }

  @Test func `signals are blocked in the thread and as before in its creator`() throws {
    let isBlocked = Monitor([Bool]())
    @Sendable func look() {
      var mask = sigset_t()
      pthread_sigmask(SIG_BLOCK, nil, &mask)
      let seen = [SIGTERM, SIGINT, SIGHUP, SIGPIPE].map { sigismember(&mask, $0) == 1 }
      isBlocked.update { $0 += seen }
    }
    look()
    let before = isBlocked.read { $0 }
    try DedicatedThread(name: "signals") { look() }.join()
    look()
    #expect(isBlocked.read { $0 } == before + [true, true, true, true] + before)
  }

  @Test func `every one of many callers sees the thread end`() async throws {
    let isOver = Monitor(false)
    let thread = try DedicatedThread(name: "joined") { isOver.update { $0 = true } }
    await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<20 {
        group.addTask {
          await thread.ended()
          return isOver.read { $0 }
        }
      }
      for await saw in group { #expect(saw) }
    }
    thread.join()
  }

  @Test func `a thread that nobody joins ends by itself`() async throws {
    for _ in 0..<200 {
      await withCheckedContinuation { continuation in
        do {
          _ = try DedicatedThread(name: "alone") { continuation.resume() }
        } catch {
          Issue.record(error)
          continuation.resume()
        }
      }
    }
  }
}
