import Foundation
import Glibc
import TestProcesses
import Testing
import Wire

/// A proxy that brings TLS and HTTP/2, as `deploy/proxy` describes it.
enum Front: String, CaseIterable, CustomTestStringConvertible {
  case nginx
  case haproxy
  case caddy

  var testDescription: String { rawValue }

  var program: String { self == .caddy ? "/usr/bin/caddy" : "/usr/sbin/\(rawValue)" }
}

/// A running front.
struct RunningFront: Sendable {
  let process: ChildProcess
  let port: UInt16
  /// Where it sends people on to TLS, if it does so here.
  let plainPort: UInt16
  let certificate: String

  /// Asks through it by curl.
  ///
  /// - Parameter path: Begins with a slash.
  func curl(_ path: String, _ arguments: String...) async throws -> Finished {
    try await run(
      "/usr/bin/curl",
      ["-sS", "--max-time", "30", "--cacert", certificate] + arguments + ["https://127.0.0.1:\(port)\(path)"])
  }
}

extension Stage {
  /// Starts a front before a service.
  func start(_ front: Front, before service: Service) async throws -> RunningFront {
    let identity = try await tlsIdentity(self)
    let certificate = try #require(identity["BRAMLEY_TLS_CERT"])
    let key = try #require(identity["BRAMLEY_TLS_KEY"])
    let (port, plainPort) = (try freePort(), try freePort())
    let listener = "127.0.0.1:\(service.port)"
    var text = try DeployFiles.text("proxy/\(front.file)")
      .replacing("127.0.0.1:8080", with: listener)
    let arguments: [String]
    switch front {
    case .nginx:
      text = text.replacing("listen 80;", with: "listen 127.0.0.1:\(plainPort);")
        .replacing("listen 443", with: "listen 127.0.0.1:\(port)")
        .replacing("/etc/ssl/auth.example.com/fullchain.pem", with: certificate)
        .replacing("/etc/ssl/auth.example.com/privkey.pem", with: key)
      arguments = try nginxArguments(site: write(text, to: front.file))
    case .haproxy:
      let both = try [certificate, key].map { try String(contentsOfFile: $0, encoding: .utf8) }.joined()
      text = text.replacing("bind :80\n", with: "bind 127.0.0.1:\(plainPort)\n")
        .replacing("bind :443", with: "bind 127.0.0.1:\(port)")
        .replacing("/etc/haproxy/auth.example.com.pem", with: try write(both, to: "both.pem"))
      arguments = ["-db", "-f", try write(text, to: front.file)]
    case .caddy:
      // By itself it would ask a certificate authority, and listen on 80.
      let site = "https://127.0.0.1:\(port) {\n\ttls \(certificate) \(key)\n\tbind 127.0.0.1"
      text =
        "{\n\tadmin off\n\tauto_https disable_redirects\n\tskip_install_trust\n}\n"
        + text.replacing("auth.example.com {", with: site)
      if try await run(front.program, ["version"]).output.isOlderCaddy {
        text = text.replacing("request_buffers 2MB", with: "buffer_requests\n\t\tmax_buffer_size 2MB")
      }
      arguments = ["run", "--adapter", "caddyfile", "--config", try write(text, to: front.file)]
    }
    // The workers of a server that root has started are somebody else.
    if geteuid() == 0 { chmod(folder, 0o755) }
    let environment = Program.environment.merging(["HOME": folder]) { $1 }
    let child = keep(try ChildProcess(front.program, arguments, environment: environment, folder: folder))
    try await listens(port, child)
    return RunningFront(process: child, port: port, plainPort: plainPort, certificate: certificate)
  }
}

extension Stage {
  /// Starts the proxy of the containers before three nodes, by their ports.
  func startProxy(before nodes: [UInt16]) async throws -> (port: UInt16, process: ChildProcess) {
    let port = try freePort()
    var text = try DeployFiles.text("docker/haproxy.cfg").replacing(
      "bind :8080", with: "bind 127.0.0.1:\(port)")
    for (index, node) in nodes.enumerated() {
      text = text.replacing("apple:\(8081 + index)", with: "127.0.0.1:\(node)")
    }
    let child = keep(
      try ChildProcess(
        Cluster.haproxy, ["-db", "-f", try write(text, to: "haproxy.cfg")], environment: Program.environment,
        folder: folder))
    SeenAnswers.ignore(port)
    try await answers(port, child)
    return (port, child)
  }
}

extension String {
  /// Whether the version is one before 2.6.4, which has an option of the file by its older names.
  fileprivate var isOlderCaddy: Bool {
    let numbers = split { !$0.isASCII || !$0.isNumber }.prefix(3).compactMap { Int($0) }
    return numbers.lexicographicallyPrecedes([2, 6, 4])
  }
}

extension Front {
  fileprivate var file: String {
    switch self {
    case .nginx: "nginx.conf"
    case .haproxy: "haproxy.cfg"
    case .caddy: "Caddyfile"
    }
  }
}
