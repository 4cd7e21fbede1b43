import Foundation
import Glibc
import TestProcesses
import Testing
import Wire

/// A proxy that verifies session tokens, as `deploy/verify` describes it.
enum Recipe: String, CaseIterable, CustomTestStringConvertible {
  case nginx
  case haproxy
  case apache

  var testDescription: String { rawValue }

  /// Whether it asks the service about each request; others find out by `exp`.
  var isOnline: Bool { self == .nginx }

  var program: String { self == .apache ? "/usr/sbin/apache2" : "/usr/sbin/\(rawValue)" }

  /// Not every machine has them.
  static let present = allCases.filter { FileManager.default.isExecutableFile(atPath: $0.program) }

  static let issuer = "https://auth.example.com"

  /// The settings of a service that stands behind a recipe as it is written.
  static func settings(_ stage: Stage) async throws -> [String: String] {
    try await tlsIdentity(stage).merging(["BRAMLEY_ISSUER": issuer]) { $1 }
  }

  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("deploy/verify").path
}

/// A certificate for 127.0.0.1 and its key, as the settings name them.
private func tlsIdentity(_ stage: Stage) async throws -> [String: String] {
  let (certificate, key) = (stage.certificate, stage.folder + "/tls.key")
  if !FileManager.default.fileExists(atPath: key) {
    let made = try await run(
      "/usr/bin/openssl",
      [
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
        "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out",
        certificate,
      ])
    try #require(made.status == 0, "\(made.errors)")
  }
  return ["BRAMLEY_TLS_CERT": certificate, "BRAMLEY_TLS_KEY": key]
}

extension Stage {
  fileprivate var certificate: String { folder + "/tls.crt" }

  /// A service beside another on the same database that speaks TLS, for recipes that want https.
  func startTLS(_ changes: [String: String], secondsAhead ahead: Int? = nil) async throws -> TLSAddress {
    let settings = try await Recipe.settings(self).merging(changes) { $1 }
    let child = try launch(settings, secondsAhead: ahead)
    let port = try port(of: await ready(child))
    return TLSAddress(url: "https://127.0.0.1:\(port)", process: child)
  }

  /// Starts a recipe in front of an application that answers with the headers it got.
  ///
  /// - Parameters:
  ///   - service: Whom it asks, in the clear.
  ///   - keys: The same service by https.
  func start(
    _ recipe: Recipe, asking service: Service, keys: TLSAddress, secondsAhead ahead: Int? = nil
  ) async throws -> Proxy {
    let application = try await startApplication()
    let port = try freePort()
    if recipe == .haproxy { _ = try await fetchCertificates(from: service.baseURL) }
    let original = try String(contentsOfFile: "\(Recipe.folder)/\(recipe.file)", encoding: .utf8)
    let text =
      original
      .replacing("127.0.0.1:8000", with: "127.0.0.1:\(port)")
      .replacing("127.0.0.1:8080", with: "127.0.0.1:\(service.port)")
      .replacing("127.0.0.1:9000", with: "127.0.0.1:\(application)")
      .replacing(Recipe.issuer + "/.well-known", with: keys.url + "/.well-known")
      .replacing("/etc/ssl/certs/ca-certificates.crt", with: certificate)
      .replacing("/etc/haproxy/bramley", with: haproxyFolder)
    let site = try write(text, to: recipe.file)
    let arguments = try commandLine(of: recipe, site: site, port: port)
    var environment = Program.environment
    if let ahead { environment.merge(try ClockShift.environment(ahead)) { $1 } }
    // The workers of a server that root has started are somebody else.
    if geteuid() == 0 { chmod(folder, 0o755) }
    let child = keep(
      try ChildProcess(recipe.program, arguments, environment: environment, folder: folder))
    SeenAnswers.ignore(port)
    try await answers(port, child)
    return Proxy(port: port, keys: keys)
  }

  var haproxyFolder: String { folder + "/haproxy" }

  /// Runs the script that fetches the keys for HAProxy.
  func fetchCertificates(from url: String, reload: [String] = []) async throws -> Finished {
    try await run("/bin/bash", ["\(Recipe.folder)/haproxy-certs.sh", url, haproxyFolder] + reload)
  }

  /// What the recipe's file is set in, where a distribution has files of its own, and the arguments for one process in
  /// the foreground.
  private func commandLine(of recipe: Recipe, site: String, port: UInt16) throws -> [String] {
    switch recipe {
    case .haproxy: return ["-db", "-f", site]
    case .nginx: return try nginxArguments(site: site)
    case .apache:
      let modules = [
        "mpm_event", "authn_core", "authz_core", "authz_user", "headers", "proxy", "proxy_http",
        "auth_openidc",
      ].map { "LoadModule \($0)_module /usr/lib/apache2/modules/mod_\($0).so" }
      let main = """
        ServerName localhost
        ServerRoot \(folder)
        DefaultRuntimeDir \(folder)
        PidFile \(folder)/apache.pid
        Mutex pthread
        ErrorLog \(folder)/apache.log
        Listen 127.0.0.1:\(port)
        \(geteuid() == 0 ? "User nobody\nGroup nogroup" : "")
        \(modules.joined(separator: "\n"))
        Include \(site)
        """
      return ["-X", "-f", try write(main, to: "apache-main.conf")]
    }
  }

  private func startApplication() async throws -> UInt16 {
    let script = """
      import http.server, json
      class Echo(http.server.BaseHTTPRequestHandler):
          protocol_version = "HTTP/1.1"
          def do_GET(self):
              body = json.dumps({name.lower().replace("_", "-"): value for name, value in self.headers.items()}).encode()
              self.send_response(200)
              self.send_header("Content-Length", str(len(body)))
              self.end_headers()
              self.wfile.write(body)
          def log_message(self, *arguments):
              pass
      server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Echo)
      print(server.server_port, flush=True)
      server.serve_forever()
      """
    let child = keep(
      try ChildProcess(Program.python, ["-c", script], environment: Program.environment, folder: folder))
    return try #require(try await UInt16(child.line { _ in true }))
  }
}

extension Recipe {
  fileprivate var file: String { self == .haproxy ? "haproxy.cfg" : "\(rawValue).conf" }
}

/// Where a service speaks TLS.
struct TLSAddress: Sendable {
  let url: String
  let process: ChildProcess
}

/// A running recipe.
struct Proxy: Sendable {
  let port: UInt16
  /// Where it may fetch keys.
  let keys: TLSAddress

  /// Asks for something behind it.
  func get(
    _ token: String?, path: String = "/orders/7", headers: [(name: String, value: String)] = []
  ) async throws -> HTTPAnswer {
    let bearer = token.map { [(name: "Authorization", value: "Bearer \($0)")] } ?? []
    return try await exchange(HTTPRequest(path: path, headers: bearer + headers), port: port)
  }
}
