internal import Glibc
package import Load
internal import LoadReport
internal import Threads

/// Measures everything that a request cannot do without, one after the other.
///
/// - Parameters:
///   - seconds: How long for each.
///   - folder: On the file system whose commits are measured.
package func measureCeiling(seconds: Double, in folder: String, stop: StopFlag) throws(LoadError) -> [Figure]
{
  var figures: [Figure] = []
  let cores = availableCores()
  for operation in CryptoOperation.allCases {
    for threads in Set([1, cores]).sorted() {
      showProgress("\(operation.rawValue) on \(threads)")
      figures.append(try measure(operation, threads: threads, seconds: seconds, stop: stop))
    }
  }
  showProgress("commits")
  figures.append(try measureAppend(in: folder, seconds: seconds, stop: stop))
  figures += try measureGroupCommit(in: folder, callers: 64, seconds: seconds, stop: stop)
  let plan = LoadPlan(
    arrival: .closed, connections: 32, threads: max(1, min(4, cores / 2)), warmUp: 300_000_000,
    duration: Int(seconds * 1e9))
  // As small as they can be, and as large as a sign-in and a token's verification are.
  let shapes: [(String, Bool, RequestShape)] = [
    ("empty inline request", false, RequestShape(request: 60, body: 2, hasBody: false)),
    ("the same, 900 bytes of head", false, RequestShape(request: 900, body: 2, hasBody: false)),
    ("empty suspended request", true, RequestShape(request: 60, body: 2, hasBody: false)),
    ("the same, 1200 bytes, answer of 2300", true, RequestShape(request: 1200, body: 2300, hasBody: true)),
  ]
  for (name, isSuspended, shape) in shapes {
    showProgress(name)
    let run = try measureEmpty(isSuspended, shape, plan, threads: cores, stop: stop)
    figures.append(figure(name, run))
  }
  showProgress("nginx")
  let body = [UInt8](repeating: UInt8(ascii: "k"), count: 420)
  if let run = try measureNginx(body, plan, stop: stop) { figures.append(figure("nginx, return 200", run)) }
  showProgress("")
  return figures
}

private func figure(_ name: String, _ run: LoadOutcome) -> Figure {
  Figure(
    name: name, callers: run.report.connections, microseconds: run.report.server?.microsecondsPerRequest,
    perSecond: run.report.rate)
}

/// Waits for asynchronous work on a thread that has nothing else to do.
func waiting<Value: Sendable>(
  for work: @escaping @Sendable () async throws(LoadError) -> Value
) throws(LoadError) -> Value {
  let outcome = Monitor<Result<Value, LoadError>?>(nil)
  Task.detached {
    do throws(LoadError) {
      let value = try await work()
      outcome.update { $0 = .success(value) }
    } catch {
      outcome.update { $0 = .failure(error) }
    }
  }
  guard let result = outcome.wait(for: { $0 }) else { throw .unavailable("nothing came of it") }
  return try result.get()
}
