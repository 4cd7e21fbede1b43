import Foundation
import Glibc

/// A program that a test runs, with an environment made from nothing and with no signal blocked.
package final class ChildProcess: Sendable {
  /// What is known of it so far.
  package struct State: Sendable {
    package var output: [UInt8] = []
    package var errors: [UInt8] = []
    package var end: End?
  }

  package enum End: Equatable, Sendable {
    case exit(Int32)
    case signal(Int32)
  }

  package let processID: pid_t
  package let state = Watched(State())
  private let input: Int32

  /// Starts a program.
  ///
  /// - Parameters:
  ///   - path: Its file; no search in `PATH`.
  ///   - environment: All of it.
  ///   - folder: Where it works.
  ///   - input: What it reads; nil keeps its standard input open until ``closeInput()``.
  package init(
    _ path: String, _ arguments: [String], environment: [String: String], folder: String,
    input text: String? = ""
  ) throws {
    let (toChild, fromChild, errorsOfChild) = (try Pipe(), try Pipe(), try Pipe())
    processID = try spawn(
      path, arguments, environment, folder,
      descriptors: [toChild.reading, fromChild.writing, errorsOfChild.writing])
    for end in [toChild.reading, fromChild.writing, errorsOfChild.writing] { close(end) }
    input = toChild.writing
    LivingChildren.add(processID)
    let (state, child) = (state, processID)
    Thread.detachNewThread {
      gather(from: [fromChild.reading, errorsOfChild.reading]) { index, bytes in
        state.update {
          index == 0 ? $0.output.append(contentsOf: bytes) : $0.errors.append(contentsOf: bytes)
        }
      }
      var status: Int32 = 0
      while waitpid(child, &status, 0) < 0, errno == EINTR {}
      LivingChildren.remove(child)
      let end: End = status & 0x7F == 0 ? .exit(status >> 8 & 0xFF) : .signal(status & 0x7F)
      state.update { $0.end = end }
    }
    if let text {
      // The program may have ended by now; that is no reason for the tests to die of SIGPIPE.
      _ = Array(text.utf8).withUnsafeBytes {
        Glibc.send(input, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      close(input)
    }
  }

  /// Ends the standard input that was kept open.
  package func closeInput() { close(input) }

  /// Sends a signal, unless the program has ended.
  package func send(signal number: Int32) {
    state.read { if $0.end == nil { _ = Glibc.kill(processID, number) } }
  }

  /// How it ended, once it has.
  @discardableResult
  package func ended() async throws -> End { try await state.first(\.end) }

  package var outputLines: [String] { lines(state.read(\.output)) }
  package var errorText: String { String(decoding: state.read(\.errors), as: UTF8.self) }
}

/// Whole lines only.
package func lines(_ bytes: [UInt8]) -> [String] {
  bytes.split(separator: 0x0A, omittingEmptySubsequences: false).dropLast().map {
    String(decoding: $0, as: UTF8.self)
  }
}

/// Programs that have not ended; none of them outlives the tests, however those end.
private enum LivingChildren {
  private static let living = Watched<Set<pid_t>?>(nil)

  static func add(_ child: pid_t) {
    living.update { children in
      if children == nil { atexit { LivingChildren.killAll() } }
      children = (children ?? []).union([child])
    }
  }

  static func remove(_ child: pid_t) {
    living.update { _ = $0?.remove(child) }
  }

  private static func killAll() {
    for child in living.read({ $0 }) ?? [] { kill(child, SIGKILL) }
  }
}

package struct SystemFault: Error {
  package let call: String
  package let code: Int32

  package init(call: String, code: Int32) {
    (self.call, self.code) = (call, code)
  }
}

private struct Pipe {
  let reading: Int32
  let writing: Int32

  init() throws {
    var ends: [Int32] = [0, 0]
    // A pair of sockets, since `pipe2` is not to be had here and a pipe leaks into children that start just now.
    let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw SystemFault(call: "socketpair", code: errno) }
    (reading, writing) = (ends[0], ends[1])
    shutdown(reading, Int32(SHUT_WR))
  }
}

/// glibc's own; Swift does not see what it declares for `_GNU_SOURCE` only.
@_silgen_name("posix_spawn_file_actions_addclosefrom_np")
private func addCloseFrom(_ actions: UnsafeMutablePointer<posix_spawn_file_actions_t>, _ first: Int32)
  -> Int32

private func spawn(
  _ path: String, _ arguments: [String], _ environment: [String: String], _ folder: String,
  descriptors: [Int32]
) throws -> pid_t {
  var actions = posix_spawn_file_actions_t()
  posix_spawn_file_actions_init(&actions)
  defer { posix_spawn_file_actions_destroy(&actions) }
  for (number, descriptor) in descriptors.enumerated() {
    posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number))
  }
  // What other tests of this process have open is nothing to a child: a pipe whose writing end it held would
  // never come to its end.
  guard addCloseFrom(&actions, 3) == 0 else { throw SystemFault(call: "closefrom", code: errno) }
  var attributes = posix_spawnattr_t()
  posix_spawnattr_init(&attributes)
  defer { posix_spawnattr_destroy(&attributes) }
  // A child inherits the mask of the thread that starts it, and threads of the pool block signals.
  var (none, all) = (sigset_t(), sigset_t())
  sigemptyset(&none)
  sigfillset(&all)
  posix_spawnattr_setsigmask(&attributes, &none)
  posix_spawnattr_setsigdefault(&attributes, &all)
  posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
  // `env` changes the folder and becomes the program.
  var argv = (["env", "-C", folder, path] + arguments).map { strdup($0) } + [nil]
  var envp = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
  defer { for text in argv + envp { free(text) } }
  var child: pid_t = 0
  let code = posix_spawn(&child, "/usr/bin/env", &actions, &attributes, &argv, &envp)
  guard code == 0 else { throw SystemFault(call: "posix_spawn \(path)", code: code) }
  return child
}

/// Reads descriptors until all are at their end, and closes them.
private func gather(from descriptors: [Int32], _ take: (Int, ArraySlice<UInt8>) -> Void) {
  var open = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
  var buffer = [UInt8](repeating: 0, count: 64 * 1024)
  while open.contains(where: { $0.fd >= 0 }) {
    guard poll(&open, nfds_t(open.count), -1) >= 0 || errno == EINTR else { return }
    for index in open.indices where open[index].fd >= 0 && open[index].revents != 0 {
      let count = read(open[index].fd, &buffer, buffer.count)
      if count > 0 {
        take(index, buffer[..<count])
      } else if count == 0 || errno != EINTR {
        close(open[index].fd)
        open[index].fd = -1
      }
    }
  }
}
