internal import Domain
internal import Glibc
package import Load
internal import Crypto
internal import HTTPServer
internal import MockApple

/// The client id that minted tokens are for.
package let benchAudience = "com.example.bench"
/// The service key of a service that was started for a run.
package let benchServiceKey = "bramley-bench-service-key"

/// The service, started for a run with SQLite in a folder of its own and without limits of rate; and the stand-in for
/// Apple that it takes its keys from.
package final class SpawnedServer {
  private let path: String
  private let extra: [String]
  private let log: String?
  private let apple: AppleKeysServer
  /// Where the database is.
  package let folder: String
  /// The process that runs now.
  package private(set) var program: ChildProgram

  /// - Parameters:
  ///   - path: The program `bramley`.
  ///   - parent: Where the folder is made; the speed of a commit is that of this file system.
  ///   - extra: More of its environment, as `NAME=VALUE`.
  ///   - log: Where its log goes to stay; nil for one that goes with the folder.
  ///   - accounts: How many there are in its database before it is measured.
  package init(
    path: String, in parent: String, extra: [String] = [], log: String? = nil,
    accounts: Int = 0
  ) throws(LoadError) {
    // The service works in another folder.
    self.path = path.contains("/") && !path.hasPrefix("/") ? currentFolder() + "/" + path : path
    self.extra = extra
    self.log = log.map { $0.hasPrefix("/") ? $0 : currentFolder() + "/" + $0 }
    apple = try AppleKeysServer(host: "127.0.0.1", port: 0)
    guard let folder = makeFolder(in: parent) else { throw .unavailable("cannot make a folder in \(parent)") }
    self.folder = folder
    do {
      if accounts > 0 {
        // It makes its keys only while the database is empty.
        try startService(self.path, self.extra, folder, self.log, apple).stop()
        try fillAccounts(accounts, in: folder + "/bench.db")
      }
      program = try startService(self.path, self.extra, folder, self.log, apple)
    } catch {
      removeFolder(folder)
      throw error
    }
  }

  /// Ends the service and starts it again on the same database.
  package func restart() throws(LoadError) {
    program.stop()
    program = try startService(path, extra, folder, log, apple)
  }

  /// Ends the service, and removes its folder.
  ///
  /// - Returns: Whether it ended as it should.
  @discardableResult
  package func stop() -> Bool {
    let isGood = program.stop()
    removeFolder(folder)
    return isGood
  }
}

private func startService(
  _ path: String, _ extra: [String], _ folder: String, _ log: String?, _ apple: AppleKeysServer
) throws(LoadError) -> ChildProgram {
  var environment = [
    "PATH=" + (environmentValue("PATH") ?? "/usr/bin:/bin"), "BRAMLEY_LISTEN=127.0.0.1:0",
    "BRAMLEY_DATABASE_URL=sqlite:\(folder)/bench.db", "BRAMLEY_APPLE_CLIENT_IDS=\(benchAudience)",
    "BRAMLEY_APPLE_BASE_URL=http://\(apple.address)", "BRAMLEY_SERVICE_KEYS=\(benchServiceKey)",
    "BRAMLEY_RATE_SIGNIN=off", "BRAMLEY_RATE_REFRESH=off", "BRAMLEY_RATE_SIGNUP=off",
    // So that minted tokens last for a day of runs.
    "BRAMLEY_APPLE_MAX_TOKEN_AGE=86400",
  ]
  if let preload = environmentValue("LD_PRELOAD") { environment.append("LD_PRELOAD=\(preload)") }
  let names = Set(extra.map { $0.prefix { $0 != "=" } })
  environment.removeAll { names.contains($0.prefix { $0 != "=" }) }
  return try ChildProgram(
    path, ["serve"], environment: environment + extra, folder: folder, log: log ?? folder + "/bramley.log")
}

private func currentFolder() -> String {
  guard let folder = unsafe getcwd(nil, 0) else { return "." }
  defer { unsafe free(folder) }
  return unsafe String(cString: folder)
}

/// The key set of the stand-in for Apple, served as Apple serves its own. The keys are those of
/// `bramley-mock-apple`.
package final class AppleKeysServer: Sendable {
  private let listener: HTTPListener
  /// `host:port`.
  package let address: String

  package init(host: String, port: UInt16) throws(LoadError) {
    do {
      let keys = try MockApple(clock: systemClock).keySetJSON
      listener = try HTTPListener(
        ListenerConfiguration(
          host: host, port: port, threads: 1, connectionLimit: 64, bodyLimit: 1024, bodyMemoryLimit: 1 << 20,
          connectionMemoryLimit: 32 * 1024, idleSeconds: 30, headSeconds: 10, deadline: .seconds(10),
          maxRequestsInFlight: 64, tls: nil),
        refusal: { _, _ in Response(status: 400, closesConnection: true) },
        respond: { request in
          guard request.path == "/auth/keys" else { return Response(status: 404) }
          return Response(
            status: 200, headers: ["Content-Type": "application/json;charset=UTF-8"], body: keys)
        })
      address = listener.address
    } catch {
      throw .unavailable("the stand-in for Apple cannot listen on \(host):\(port)")
    }
  }
}
