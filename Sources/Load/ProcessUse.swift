internal import Glibc

/// CPU time of a process, its ended threads included, in nanoseconds; nil when there is no such process.
package func processNanoseconds(of process: Int32) -> Int? {
  var clock = clockid_t()
  guard unsafe clock_getcpuclockid(process, &clock) == 0 else { return nil }
  let time = nanoseconds(of: clock)
  return time > 0 ? time : nil
}

/// CPU times of one moment, in nanoseconds: of a server, of this program, and of the whole machine.
struct CPUTimes {
  let server: Int
  private let own: Int
  private let machine: Int
  private let at: Int

  /// Nil when there is no such process.
  init?(server process: Int32) {
    guard let server = processNanoseconds(of: process), let own = processNanoseconds(of: getpid()),
      let machine = machineNanoseconds()
    else { return nil }
    self.server = server
    self.own = own
    self.machine = machine
    at = steadyNanoseconds()
  }

  /// The share of all cores that went to neither of the two.
  func others(since earlier: CPUTimes) -> Double {
    let others = (machine - earlier.machine) - (server - earlier.server) - (own - earlier.own)
    return Double(max(0, others)) / Double(max(1, at - earlier.at) * availableCores())
  }
}

/// What all cores together have worked, and what their host took from them, since the start (proc(5), `/proc/stat`).
private func machineNanoseconds() -> Int? {
  guard let line = readFile("/proc/stat", atMost: 1 << 20)?.split(separator: 10).first else { return nil }
  let fields = line.split(separator: 32).dropFirst().map { Int(String(decoding: $0, as: UTF8.self)) ?? 0 }
  guard fields.count >= 8 else { return nil }
  // user, nice, system, (idle, iowait,) irq, softirq, steal; what guests took is in the first two.
  let busy = fields[0] + fields[1] + fields[2] + fields[5] + fields[6] + fields[7]
  return busy * (1_000_000_000 / max(1, sysconf(Int32(_SC_CLK_TCK))))
}

/// Memory of a process in bytes, from `/proc/PID/status` (proc(5)).
package struct ProcessMemory: Sendable, Equatable {
  /// At this moment.
  package let resident: Int
  /// At most, since its start.
  package let peak: Int

  package init?(of process: Int32) {
    guard let text = readFile("/proc/\(process)/status", atMost: 16 * 1024) else { return nil }
    func kilobytes(_ name: String) -> Int? {
      let line = text.split(separator: 10).first { $0.starts(with: name.utf8) }
      return line.flatMap { Int(String(decoding: $0.filter { (0x30...0x39).contains($0) }, as: UTF8.self)) }
    }
    guard let resident = kilobytes("VmRSS:"), let peak = kilobytes("VmHWM:") else { return nil }
    self.resident = resident * 1024
    self.peak = peak * 1024
  }
}

/// A file's bytes; nil when it cannot be read or is longer.
package func readFile(_ path: String, atMost limit: Int) -> [UInt8]? {
  let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
  guard descriptor >= 0 else { return nil }
  defer { close(descriptor) }
  var bytes: [UInt8] = []
  var piece = [UInt8](repeating: 0, count: 64 * 1024)
  while true {
    let count = unsafe read(descriptor, &piece, piece.count)
    if count == 0 { return bytes }
    if count < 0, errno == EINTR { continue }
    guard count > 0, bytes.count + count <= limit else { return nil }
    bytes.append(contentsOf: piece[..<count])
  }
}

/// Replaces a file by one that only its owner may read; nothing is left half-written.
///
/// - Returns: Whether it was written.
package func writeFile(_ path: String, _ bytes: some Collection<UInt8>) -> Bool {
  let temporary = path + ".new.\(getpid())"
  unsafe unlink(temporary)
  let descriptor = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
  guard descriptor >= 0 else { return false }
  let bytes = Array(bytes)
  var written = 0
  while written < bytes.count {
    let count = unsafe bytes[written...].withUnsafeBytes {
      unsafe write(descriptor, $0.baseAddress, $0.count)
    }
    if count < 0, errno == EINTR { continue }
    guard count > 0 else { break }
    written += count
  }
  let isWhole = close(descriptor) == 0 && written == bytes.count
  guard isWhole, unsafe rename(temporary, path) == 0 else {
    unsafe unlink(temporary)
    return false
  }
  return true
}
