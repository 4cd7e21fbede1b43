internal import Bench
internal import Load
internal import LoadReport
internal import Wire

/// The server that a run is against, be it started for it or not, and what is known of it.
final class Target {
  let endpoint: Endpoint
  let serviceKey: String?
  let isSpawned: Bool
  private let service: SpawnedServer?
  private let apple: AppleKeysServer?
  private let givenProcess: Int32?
  private let idleBytes: Int?

  init(_ options: LoadOptions) throws(CommandFault) {
    let arguments = options.arguments
    if let path = arguments["spawn"] {
      let service = try attempt { () throws(LoadError) in
        try SpawnedServer(
          path: path, in: arguments["data"] ?? temporaryFolder, extra: arguments.all("env"),
          log: arguments["log"], accounts: options.accounts)
      }
      self.service = service
      idleBytes = ProcessMemory(of: service.program.process)?.resident
      (apple, givenProcess, serviceKey, isSpawned) = (nil, nil, benchServiceKey, true)
      endpoint = try attempt { () throws(LoadError) in
        try Endpoint(url: "http://" + service.program.address, allowsRemote: false)
      }
    } else {
      endpoint = try attempt { () throws(LoadError) in
        try Endpoint(url: arguments["url"] ?? "", allowsRemote: arguments.has("allow-remote"))
      }
      givenProcess = try number("server-pid", of: arguments, 1...4_194_304).map { Int32($0) }
      if let process = givenProcess, processNanoseconds(of: process) == nil {
        throw .unavailable("there is no process \(process)")
      }
      apple = try arguments["apple-listen"].map { text throws(CommandFault) in try listenAsApple(text) }
      (service, idleBytes, serviceKey, isSpawned) = (nil, nil, arguments["service-key"], false)
      guard endpoint.accepts else { throw .unavailable("nobody listens at \(endpoint.authority)") }
    }
  }

  var process: Int32? { service?.program.process ?? givenProcess }

  /// Adds what is known of the server's memory and start to a report.
  func describe(_ report: inout RunReport) {
    guard let process else { return }
    var use = report.server ?? ServerUse()
    use.peakBytes = ProcessMemory(of: process)?.peak
    use.idleBytes = idleBytes
    use.readyMilliseconds = service?.program.readyMilliseconds
    report.server = use
  }

  /// Ends what was started.
  func stop() {
    service?.stop()
    withExtendedLifetime(apple) {}
  }
}

private func listenAsApple(_ text: String) throws(CommandFault) -> AppleKeysServer {
  guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
    throw .usage("--apple-listen takes HOST:PORT")
  }
  return try attempt { () throws(LoadError) in try AppleKeysServer(host: String(text[..<colon]), port: port) }
}
