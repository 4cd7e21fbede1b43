internal import Glibc
internal import HTTPServer
package import Load
internal import Threads
internal import Wire

/// Runs the service's own listener with nothing behind it, until standard input ends: what an empty request costs,
/// measured in a process of its own as the service's cost is.
///
/// `/inline/N` answers with N bytes at once, `/suspended/N` when another thread has woken it, as storage does.
package func runEmptyListener(threads: Int) throws(LoadError) {
  let waker: BatchWorker<Waker>
  let listener: HTTPListener
  do {
    // As the service runs its storage's thread.
    waker = try BatchWorker(
      name: "waker", capacity: 4096, batchLimit: 256, tickMilliseconds: nil, work: Waker())
    // With the service's own limits.
    listener = try HTTPListener(
      ListenerConfiguration(
        host: "127.0.0.1", port: 0, threads: threads, connectionLimit: 20_000, bodyLimit: 64 * 1024,
        bodyMemoryLimit: 64 << 20, connectionMemoryLimit: 32 * 1024, idleSeconds: 30, headSeconds: 10,
        deadline: .seconds(15), maxRequestsInFlight: 4096, tls: nil),
      refusal: { _, _ in Response(status: 400, closesConnection: true) },
      respond: { request in
        if request.path.utf8.starts(with: "/suspended/".utf8) {
          await withCheckedContinuation { continuation in
            if !waker.submit(continuation) { continuation.resume() }
          }
        }
        return answer(to: request)
      })
  } catch {
    throw .unavailable("the empty listener does not start")
  }
  var ready = JSONWriter()
  ready.member("event", "ready")
  ready.member("listen", listener.address)
  print(String(decoding: ready.finish(), as: UTF8.self))
  fflush(nil)
  var byte: UInt8 = 0
  while unsafe read(STDIN_FILENO, &byte, 1) != 0 {}
  withExtendedLifetime(listener) {}
}

private func answer(to request: Request) -> Response {
  guard let slash = request.path.utf8.lastIndex(of: UInt8(ascii: "/")),
    let count = Int(request.path[request.path.utf8.index(after: slash)...]), (0...(1 << 16)).contains(count)
  else { return Response(status: 404) }
  return Response(
    status: 200, headers: ["Content-Type": "application/json"],
    body: [UInt8](repeating: UInt8(ascii: "x"), count: count))
}

/// Wakes who waits.
private struct Waker: BatchWork {
  mutating func perform(_ items: [CheckedContinuation<Void, Never>]) {
    for continuation in items { continuation.resume() }
  }

  mutating func finish() {}
}
