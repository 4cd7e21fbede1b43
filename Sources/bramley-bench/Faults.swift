internal import Glibc
internal import Load
internal import Threads
internal import Wire

extension CommandFault {
  init(_ error: LoadError) {
    switch error {
    case .usage(let message): self = .usage(message)
    case .unavailable(let message): self = .unavailable(message)
    }
  }
}

/// Does something that may fail as a load run does.
func attempt<Result>(_ body: () throws(LoadError) -> Result) throws(CommandFault) -> Result {
  do { return try body() } catch { throw CommandFault(error) }
}

/// A whole number of an option, which counts something.
func number(
  _ option: String, of arguments: Arguments, _ range: ClosedRange<Int64>
) throws(CommandFault) -> Int? {
  try arguments.number(option, range).map { Int($0) }
}

/// Writes a line to standard error.
func complain(_ message: String) { writeError("bramley-bench: \(message)\n") }

/// Writes all of it to standard output.
func printBytes(_ bytes: [UInt8]) {
  var rest = bytes[...]
  while !rest.isEmpty {
    let count = unsafe rest.withUnsafeBytes { unsafe write(STDOUT_FILENO, $0.baseAddress, $0.count) }
    if count < 0, errno == EINTR { continue }
    guard count > 0 else { return }
    rest = rest.dropFirst(count)
  }
}

/// The first SIGINT or SIGTERM stops what runs, which then reports; a second one ends the program at once.
func watchedSignals() -> StopFlag {
  let stop = StopFlag()
  var set = stopSignals()
  unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
  let thread = try? DedicatedThread(name: "signals") {
    var set = stopSignals()
    var number: Int32 = 0
    while unsafe sigwait(&set, &number) == 0 {
      if stop.isSet { _exit(128 + number) }
      stop.set()
    }
  }
  // Without that thread the signals end the program as ever.
  if thread == nil { unsafe pthread_sigmask(SIG_UNBLOCK, &set, nil) }
  return stop
}

private func stopSignals() -> sigset_t {
  var set = sigset_t()
  unsafe sigemptyset(&set)
  unsafe sigaddset(&set, SIGTERM)
  unsafe sigaddset(&set, SIGINT)
  return set
}
