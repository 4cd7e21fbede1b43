internal import AppleIdentity
internal import Domain
internal import Glibc
internal import HTTPServer
internal import ProviderTokens
internal import Sessions
internal import Storage
internal import Telemetry

/// What the parts of a service are measured by, apart from the API's own counts.
struct NodeMetrics: Sendable {
  let registry = Metrics()
  private let keyFetches: CounterSet
  private let firebaseKeyFetches: CounterSet
  private let keyChanges: CounterSet
  private let groupSizes: Histogram
  private let commitSeconds: Histogram

  init() {
    keyFetches = registry.counters(
      "bramley_apple_key_fetches_total", help: "Fetches of Apple's key set by outcome.", label: "outcome",
      values: ["fetched", "failed"])
    firebaseKeyFetches = registry.counters(
      "bramley_firebase_key_fetches_total", help: "Fetches of the keys of Firebase's tokens by outcome.",
      label: "outcome", values: ["fetched", "failed"])
    keyChanges = registry.counters(
      "bramley_signing_key_changes_total", help: "Changes of signing keys that this node made.",
      label: "change", values: SigningKeyChange.Step.allCases.map(\.rawValue))
    groupSizes = registry.histogram(
      "bramley_commit_transactions", help: "Transactions of one commit.",
      bounds: [1, 2, 4, 8, 16, 32, 64, 128, 256])
    commitSeconds = registry.histogram(
      "bramley_commit_duration_seconds", help: "From the beginning of a group of transactions to its commit.",
      bounds: [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1])
  }

  func count(_ report: KeyFetchReport) { keyFetches.add(report.label) }

  func countFirebase(_ report: KeyFetchReport) { firebaseKeyFetches.add(report.label) }

  func count(_ change: SigningKeyChange) { keyChanges.add(change.step.rawValue) }

  func observe(commitOf transactions: Int, _ duration: Duration) {
    groupSizes.observe(Double(transactions))
    let (seconds, attoseconds) = duration.components
    commitSeconds.observe(Double(seconds) + Double(attoseconds) / 1e18)
  }

  /// Adds what is read from the parts when it is asked for.
  func watch(
    storage: any CountedStorage, directory: KeyDirectory, issuer: SessionIssuer, listener: HTTPListener,
    clock: WallClock,
    log: Log
  ) {
    registry.gauge("bramley_storage_queue_depth", help: "Transactions that wait for the writer.") {
      Double(storage.statistics.waiting)
    }
    registry.counter(
      "bramley_storage_transactions_total", help: "Transactions, those that only read included."
    ) { Double(storage.statistics.transactions) }
    registry.counter("bramley_storage_faults_total", help: "Commits that failed.") {
      Double(storage.statistics.faults)
    }
    registry.gauge("bramley_apple_keys_age_seconds", help: "Since Apple's key set was last fetched.") {
      directory.age.map { Double($0) / 1000 }
    }
    registry.gauge("bramley_signing_key_age_seconds", help: "Since the active signing key was made.") {
      issuer.keys.published.first { $0.role == .active }.map { Double(clock.now().since($0.createdAt)) }
    }
    registry.add("bramley_signing_keys", help: "Published signing keys by role.", kind: .gauge) {
      let published = issuer.keys.published
      return [SigningKeyRole.active, .standby, .retired].map { role in
        Sample(
          labels: [("role", role.rawValue)], value: Double(published.count { $0.role == role }))
      }
    }
    registry.gauge("bramley_connections", help: "Open connections.") { Double(listener.openConnections) }
    registry.gauge("bramley_requests_in_flight", help: "Requests that are being answered.") {
      Double(listener.requestsInFlight)
    }
    registry.counter("bramley_log_lines_dropped_total", help: "Log lines that found no room.") {
      Double(log.droppedLines)
    }
    watchProcess()
  }

  /// The figures that Prometheus's own client libraries give of a process.
  private func watchProcess() {
    registry.counter("process_cpu_seconds_total", help: "User and system CPU time.") {
      var usage = rusage()
      guard unsafe getrusage(RUSAGE_SELF.rawValue, &usage) == 0 else { return nil }
      return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }
    registry.gauge("process_resident_memory_bytes", help: "Resident memory.") {
      guard let text = readFile("/proc/self/statm").map({ String(decoding: $0, as: UTF8.self) }),
        let pages = text.split(separator: " ").dropFirst().first.flatMap({ Double($0) })
      else { return nil }
      return pages * Double(sysconf(Int32(_SC_PAGESIZE)))
    }
    registry.gauge("process_open_fds", help: "Open file descriptors.") { openDescriptors() }
    registry.gauge("process_max_fds", help: "File descriptors that may be open.") {
      var limit = rlimit()
      guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
      return Double(limit.rlim_cur)
    }
    let startedAt = Double(WallClock.system.now().seconds)
    registry.gauge("process_start_time_seconds", help: "Since 1970.") { startedAt }
  }
}

extension KeyFetchReport {
  fileprivate var label: String { if case .fetched = self { "fetched" } else { "failed" } }
}

private func seconds(_ time: timeval) -> Double {
  Double(time.tv_sec) + Double(time.tv_usec) / 1_000_000
}

private func openDescriptors() -> Double? {
  guard let folder = unsafe opendir("/proc/self/fd") else { return nil }
  defer { unsafe closedir(folder) }
  // Neither `.` and `..`, nor the descriptor of this look itself.
  var count = -3.0
  while unsafe readdir(folder) != nil { count += 1 }
  return count
}
