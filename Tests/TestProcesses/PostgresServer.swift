import Foundation
import Glibc
import Synchronization

/// A PostgreSQL server in a folder of its own, on a socket there and nowhere else. It ends with the tests.
package final class PostgresServer: Sendable {
  /// Where data, socket and log are.
  package let folder: String
  private let isDurable: Bool
  private let process = Mutex<ChildProcess?>(nil)
  private static let next = Atomic(0)

  /// Makes the folder and the database in it.
  ///
  /// - Parameter isDurable: Whether what was committed survives a loss of power, for which the server syncs.
  package convenience init(isDurable: Bool = false) async throws {
    try await self.init(isDurable: isDurable, by: Self.creation, [])
  }

  /// Makes a standby of a server, which follows it until it is told that it is the primary.
  package convenience init(following primary: PostgresServer) async throws {
    try await self.init(isDurable: primary.isDurable, by: Self.copying, [primary.folder])
  }

  private init(isDurable: Bool, by script: String, _ arguments: [String]) async throws {
    let number = Self.next.wrappingAdd(1, ordering: .relaxed).newValue
    // Short: the name of a socket has little room.
    folder = "/tmp/pgt-\(getpid())-\(number)"
    self.isDurable = isDurable
    let made = try ChildProcess(
      "/bin/sh", ["-c", script, folder, Self.programs] + arguments, environment: Self.environment,
      folder: "/tmp")
    guard try await made.ended() == .exit(0) else { throw Unstarted(words: made.errorText) }
    try await start()
  }

  deinit {
    taken()?.closeInput()
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// Starts the server on what is there, and returns when it takes connections.
  package func start() async throws {
    let child = try ChildProcess(
      "/bin/sh", ["-c", Self.service, folder, Self.programs, isDurable ? "on" : "off", "\(getpid())"],
      environment: Self.environment, folder: "/tmp", input: nil)
    process.withLock { $0 = child }
    do {
      try await child.line { $0 == "ready" }
    } catch {
      throw Unstarted(words: child.errorText)
    }
  }

  /// Ends the server as a loss of power would, without a word to anybody.
  package func kill() async throws {
    let text = try String(contentsOfFile: folder + "/data/postmaster.pid", encoding: .utf8)
    if let process = text.split(separator: "\n").first.flatMap({ pid_t($0) }) { Glibc.kill(process, SIGKILL) }
    let child = taken()
    try await child?.ended()
    child?.closeInput()
  }

  /// Has the server say and do nothing any more, until ``thaw()``.
  package func freeze() throws { try signalAll(SIGSTOP) }

  /// Has the server go on.
  package func thaw() throws { try signalAll(SIGCONT) }

  /// The server first: what it starts meanwhile would be missed.
  private func signalAll(_ number: Int32) throws {
    let text = try String(contentsOfFile: folder + "/data/postmaster.pid", encoding: .utf8)
    guard let server = text.split(separator: "\n").first.flatMap({ pid_t($0) }) else { return }
    Glibc.kill(server, number)
    for process in try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap({ pid_t($0) }) {
      // What is between parentheses is a name, which may hold anything; then come the state and the parent.
      let status = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? ""
      let fields = status.split(separator: ")").last?.split(separator: " ") ?? []
      if fields.count > 1, pid_t(fields[1]) == server { Glibc.kill(process, number) }
    }
  }

  /// Has the server end at once, with a word to who is connected.
  package func stop() async throws {
    let child = taken()
    child?.closeInput()
    try await child?.ended()
  }

  /// The process, whose input is closed once.
  private func taken() -> ChildProcess? {
    process.withLock { process in
      defer { process = nil }
      return process
    }
  }

  /// The URL of a database.
  package func url(database: String = "postgres", schema: String? = nil) -> String {
    let options = schema.map { "&options=-csearch_path%3D" + $0 } ?? ""
    return "postgres://bramley:no-secret@/\(database)?host=\(folder)\(options)"
  }

  /// Where the server's programs are: those of Debian's package, else those of the path.
  private static let programs: String = {
    let versions = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
    let newest = versions.compactMap { Int($0) }.max()
    return newest.map { "/usr/lib/postgresql/\($0)/bin:" } ?? ""
  }()

  private static let environment = ["PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL": "C"]

  /// The server will not run as root.
  private static let prelude = """
    PATH="$1$PATH"
    if [ "$(id -u)" = 0 ]; then as="setpriv --reuid=65534 --regid=65534 --clear-groups"; else as=; fi
    """

  private static let folderMaking = """
    \(prelude)
    set -e
    mkdir -m 700 "$0"
    if [ -n "$as" ]; then chown 65534:65534 "$0"; fi
    cd "$0"
    """

  private static let creation = """
    \(folderMaking)
    $as initdb -D "$0/data" -A trust -U bramley -E UTF8 --locale=C --no-sync >"$0/initdb.log" 2>&1 || {
      cat "$0/initdb.log" >&2
      exit 1
    }
    """

  private static let copying = """
    \(folderMaking)
    $as pg_basebackup -D "$0/data" -h "$2" -U bramley -d dbname=postgres -R -X stream -c fast --no-sync
    """

  // `read` returns when the tests close the pipe or end.
  private static let service = """
    \(prelude)
    cd "$0"
    exec 3<&0
    server=0
    # What a killed server leaves behind goes a moment later.
    launches=0
    until pg_isready -h "$0" -q; do
      if [ $server = 0 ] || ! kill -0 $server 2>/dev/null; then
        launches=$((launches + 1))
        if [ $launches -gt 50 ]; then tail -5 "$0/log" >&2; exit 1; fi
        $as postgres -D "$0/data" -k "$0" -c listen_addresses= -c fsync="$2" -c max_connections=400 \
          -c shared_buffers=32MB -c unix_socket_permissions=0777 -c max_wal_size=256MB \
          >>"$0/log" 2>&1 </dev/null 3<&- &
        server=$!
      fi
      sleep 0.1
    done
    chmod 711 "$0"
    echo ready
    (
      read -r _ <&3
      kill -INT $server
      # Of tests that have ended nobody needs it any more.
      for _ in 1 2 3 4 5 6 7 8 9 10; do
        sleep 0.5
        kill -0 $server || kill -0 "$3" || { rm -rf "$0"; exit; }
      done
    ) >/dev/null 2>&1 &
    reader=$!
    wait $server
    if kill -0 "$3" 2>/dev/null; then kill $reader 2>/dev/null; fi
    exit 0
    """

  /// The server would not start.
  package struct Unstarted: Error {
    package let words: String
  }
}
