import Foundation
import Glibc
import TestProcesses

/// A port that nobody has just now.
func freePort() throws -> UInt16 {
  let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
  defer { close(descriptor) }
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_addr.s_addr = inet_addr("127.0.0.1")
  var length = socklen_t(MemoryLayout<sockaddr_in>.size)
  let code = withUnsafeMutablePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
      bind(descriptor, pointer, length) == 0 ? getsockname(descriptor, pointer, &length) : -1
    }
  }
  guard code == 0 else { throw SystemFault(call: "bind", code: errno) }
  return UInt16(bigEndian: address.sin_port)
}

/// Waits until a program answers: proxies do not say when they do, and Apache listens twice at its start.
func answers(_ port: UInt16, _ child: ChildProcess) async throws {
  try await untilIt(child) { _ = try HTTPConnection(port: port).exchange(HTTPRequest(path: "/")) }
}

/// Waits until a program takes connections, whatever is spoken over them.
func listens(_ port: UInt16, _ child: ChildProcess) async throws {
  try await untilIt(child) { _ = try HTTPConnection(port: port) }
}

/// Tries until it works or the program has ended.
private func untilIt(_ child: ChildProcess, _ works: @escaping @Sendable () throws -> Void) async throws {
  try await onThread {
    while (try? works()) == nil {
      if let end = child.state.read(\.end) { throw NotReady(end: end, errors: child.errorText) }
      poll(nil, 0, 10)
    }
  }
}

extension Stage {
  /// The arguments for nginx as one process in the foreground.
  ///
  /// - Parameter site: A file for its http context.
  func nginxArguments(site: String) throws -> [String] {
    let folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
      .map { "\($0)_temp_path \(folder)/\($0);" }
    let main = """
      daemon off; master_process off; pid \(folder)/nginx.pid; error_log stderr;
      \(geteuid() == 0 ? "user root;" : "")
      events {}
      http { access_log off; \(folders.joined(separator: " ")) include \(site); }
      """
    return ["-e", "stderr", "-p", folder, "-c", try write(main, to: "nginx-main.conf")]
  }
}
