internal import Glibc

/// The environment of this process.
package func processEnvironment() -> [String: String] {
  var environment: [String: String] = [:]
  var cursor = unsafe environ
  while let entry = unsafe cursor.pointee {
    let text = unsafe String(cString: entry)
    if let equals = text.firstIndex(of: "=") {
      environment[String(text[..<equals])] = String(text[text.index(after: equals)...])
    }
    unsafe cursor += 1
  }
  return environment
}

/// Cores that this process may run on.
package func availableCores() -> Int {
  max(Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))), 1)
}

/// Whether there is a file of this name.
package func isFile(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

/// A small file, whole; nil when it cannot be read or is larger than a mebibyte.
package func readFile(_ path: String) -> [UInt8]? {
  let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
  guard descriptor >= 0 else { return nil }
  defer { close(descriptor) }
  return readAll(descriptor)
}

/// Standard input up to its end, with the same limit.
package func readStandardInput() -> [UInt8]? { readAll(STDIN_FILENO) }

private func readAll(_ descriptor: Int32) -> [UInt8]? {
  var contents: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: 64 * 1024)
  while true {
    let count = unsafe read(descriptor, &buffer, buffer.count)
    if count == 0 { return contents }
    if count < 0 {
      guard errno == EINTR else { return nil }
      continue
    }
    guard contents.count + count <= 1 << 20 else { return nil }
    contents.append(contentsOf: buffer[..<count])
  }
}

/// Writes all of `bytes` to a descriptor.
package func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
  var written = 0
  while written < bytes.count {
    let count = unsafe bytes[written...].withUnsafeBytes {
      unsafe write(descriptor, $0.baseAddress, $0.count)
    }
    if count < 0 {
      guard errno == EINTR else { return false }
      continue
    }
    written += count
  }
  return true
}
