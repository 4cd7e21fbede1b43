internal import Glibc
package import Load
internal import Wire

/// A program that was started and says with one line that it is ready; it is ended with this object's program.
package final class ChildProgram: Sendable {
  /// Its process.
  package let process: Int32
  /// `host:port` that it listens on.
  package let address: String
  /// From its start to its line, in milliseconds.
  package let readyMilliseconds: Double
  /// Its standard input, which ends when nobody holds this any more.
  private let input: Int32

  /// Starts a program and waits until it is ready.
  ///
  /// - Parameters:
  ///   - path: Its file; without a slash it is looked for in `PATH`.
  ///   - environment: All of it, as `NAME=VALUE`.
  ///   - folder: Where it works.
  ///   - log: Where what it prints is added to.
  package init(
    _ path: String, _ arguments: [String], environment: [String], folder: String, log: String
  ) throws(LoadError) {
    let before = steadyNanoseconds()
    let logged = readFile(log, atMost: 1 << 30)?.count ?? 0
    var ends: [Int32] = [0, 0]
    guard unsafe pipe(&ends) == 0, fcntl(ends[1], F_SETFD, FD_CLOEXEC) == 0 else {
      throw .unavailable("the system gives no pipe")
    }
    let process = startProgram(
      path, arguments, environment: environment, folder: folder, input: ends[0], log: log)
    close(ends[0])
    guard let process else {
      close(ends[1])
      throw .unavailable("cannot start `\(path)`")
    }
    var hasEnded = false
    guard let address = waitForReadiness(of: process, in: log, behind: logged, hasEnded: &hasEnded) else {
      close(ends[1])
      if !hasEnded {
        kill(process, SIGKILL)
        waitForEnd(of: process)
      }
      let said = readFile(log, atMost: 1 << 20).map { String(decoding: $0.suffix(2000), as: UTF8.self) } ?? ""
      throw .unavailable("`\(path)` did not begin to serve: \(said)")
    }
    readyMilliseconds = Double(steadyNanoseconds() - before) / 1e6
    self.process = process
    self.address = address
    input = ends[1]
  }

  /// Asks it to end and waits for that, at most 15 seconds.
  ///
  /// - Returns: Whether it ended by itself with status 0.
  @discardableResult
  package func stop() -> Bool {
    kill(process, SIGTERM)
    for _ in 0..<15_000 {
      var status: Int32 = 0
      let ended = unsafe waitpid(process, &status, WNOHANG)
      if ended == process { return status == 0 }
      if ended < 0 { return false }
      usleep(1000)
    }
    kill(process, SIGKILL)
    waitForEnd(of: process)
    return false
  }

  deinit { close(input) }
}

/// Waits for a program that has been killed.
func waitForEnd(of process: pid_t) {
  var status: Int32 = 0
  while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
}

/// Starts a program in a group of its own; what it prints is added to a file.
///
/// - Returns: Its process; nil when it cannot be started.
func startProgram(
  _ path: String, _ arguments: [String], environment: [String], folder: String, input: Int32, log: String
) -> pid_t? {
  let output = unsafe open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
  guard output >= 0 else { return nil }
  defer { close(output) }
  var actions = unsafe posix_spawn_file_actions_t()
  unsafe posix_spawn_file_actions_init(&actions)
  defer { unsafe posix_spawn_file_actions_destroy(&actions) }
  unsafe posix_spawn_file_actions_adddup2(&actions, input, 0)
  unsafe posix_spawn_file_actions_adddup2(&actions, output, 1)
  unsafe posix_spawn_file_actions_adddup2(&actions, output, 2)
  var attributes = posix_spawnattr_t()
  unsafe posix_spawnattr_init(&attributes)
  defer { unsafe posix_spawnattr_destroy(&attributes) }
  var (none, all) = (sigset_t(), sigset_t())
  unsafe sigemptyset(&none)
  unsafe sigfillset(&all)
  unsafe posix_spawnattr_setsigmask(&attributes, &none)
  unsafe posix_spawnattr_setsigdefault(&attributes, &all)
  // A group of its own: Ctrl-C is for this program, which measures to the end what it interrupts.
  unsafe posix_spawnattr_setpgroup(&attributes, 0)
  unsafe posix_spawnattr_setflags(
    &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))
  // `env` changes the folder, where `posix_spawn` in Glibc's module cannot, and becomes the program.
  var argv = unsafe (["env", "-C", folder, path] + arguments).map { unsafe strdup($0) } + [nil]
  var envp = unsafe environment.map { unsafe strdup($0) } + [nil]
  var child: pid_t = 0
  let code = unsafe posix_spawn(&child, "/usr/bin/env", &actions, &attributes, &argv, &envp)
  unsafe argv.forEach { unsafe free($0) }
  unsafe envp.forEach { unsafe free($0) }
  return code == 0 ? child : nil
}

/// Reads the log until the line of readiness stands in it; nil when the program ends or 30 seconds pass.
private func waitForReadiness(
  of process: pid_t, in log: String, behind start: Int, hasEnded: inout Bool
) -> String? {
  let end = steadyNanoseconds() + 30_000_000_000
  while steadyNanoseconds() < end {
    if let bytes = readFile(log, atMost: 1 << 30), let address = readyAddress(bytes.dropFirst(start)) {
      return address
    }
    var status: Int32 = 0
    hasEnded = unsafe waitpid(process, &status, WNOHANG) != 0
    if hasEnded { return nil }
    usleep(500)
  }
  return nil
}

private func readyAddress(_ log: ArraySlice<UInt8>) -> String? {
  // Whole lines only.
  guard let last = log.lastIndex(of: 10) else { return nil }
  for line in log[...last].split(separator: 10) {
    if let object = try? JSONObject(parsing: line), object.text("event") == "ready" {
      return object.text("listen")
    }
  }
  return nil
}
