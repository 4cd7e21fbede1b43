internal import Glibc
internal import HTTPServer
internal import Load

/// nginx, answering `return 200` with a body over keep-alive connections from one process: what a finished web
/// server takes for an answer that it need not think about.
package final class Nginx {
  private static let places = ["/usr/sbin/nginx", "/usr/local/sbin/nginx", "/usr/bin/nginx"]

  /// `host:port`.
  package let address: String
  /// Its one process.
  package let process: Int32
  private let folder: String

  /// Nil when there is no nginx on this machine.
  package init?(body: [UInt8]) {
    guard let path = Self.places.first(where: { unsafe access($0, X_OK) == 0 }),
      let folder = makeFolder(in: temporaryFolder), let port = freePort()
    else { return nil }
    address = "127.0.0.1:\(port)"
    let text = String(decoding: body, as: UTF8.self)
    let configuration = """
      daemon off; master_process off; pid \(folder)/pid; error_log \(folder)/error.log;
      events { worker_connections 8192; }
      http {
        access_log off; keepalive_requests 1000000000; tcp_nodelay on;
        client_body_temp_path \(folder); proxy_temp_path \(folder); fastcgi_temp_path \(folder);
        uwsgi_temp_path \(folder); scgi_temp_path \(folder);
        server { listen \(address); location / { default_type application/json; return 200 '\(text)'; } }
      }
      """
    guard !text.contains("'"), !text.contains("$"),
      writeFile(folder + "/nginx.conf", configuration.utf8),
      let process = startNginx(path, folder)
    else {
      removeFolder(folder)
      return nil
    }
    self.folder = folder
    self.process = process
    guard waitForListening() else { return nil }
  }

  private func waitForListening() -> Bool {
    guard let endpoint = try? Endpoint(url: "http://" + address, allowsRemote: false) else { return false }
    for _ in 0..<2000 {
      if endpoint.accepts { return true }
      usleep(1000)
    }
    return false
  }

  deinit {
    kill(process, SIGKILL)
    waitForEnd(of: process)
    removeFolder(folder)
  }
}

private func startNginx(_ path: String, _ folder: String) -> pid_t? {
  let log = folder + "/error.log"
  return startProgram(
    path, ["-p", folder, "-e", log, "-c", folder + "/nginx.conf"], environment: [], folder: folder,
    input: STDIN_FILENO, log: log)
}

/// A port of 127.0.0.1 that nobody had a moment ago; nginx cannot be asked which one the system gave it.
private func freePort() -> UInt16? {
  guard let socket = try? ListeningSocket(host: "127.0.0.1", port: 0) else { return nil }
  return socket.port
}
