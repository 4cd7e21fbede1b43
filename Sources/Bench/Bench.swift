//===-- Bench --------------------------------------------------------------===//
// What stands around a load run: Apple tokens minted ahead, a server that is started for the run, and the ceiling,
// which is what a request cannot do without: its cryptography, a commit, and an empty request through the service's
// own listener. It uses the service's modules for these parts, and knows the service itself by its HTTP alone.
//===------------------------------------------------------------------------===//

internal import Glibc

/// A new folder below `parent` that only this user may read.
func makeFolder(in parent: String) -> String? {
  var template = Array("\(parent)/bramley-bench-XXXXXX".utf8CString)
  guard unsafe mkdtemp(&template) != nil else { return nil }
  return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

/// Removes a folder that this program made, and what is in it.
func removeFolder(_ path: String) {
  if let folder = unsafe opendir(path) {
    while let entry = unsafe readdir(folder) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      guard name != ".", name != ".." else { continue }
      let inner = path + "/" + name
      if unsafe unlink(inner) != 0 { removeFolder(inner) }
    }
    unsafe closedir(folder)
  }
  unsafe rmdir(path)
}

/// The value of an environment variable.
package func environmentValue(_ name: String) -> String? {
  guard let value = unsafe getenv(name) else { return nil }
  return unsafe String(cString: value)
}

/// Where temporary files go.
package var temporaryFolder: String { environmentValue("TMPDIR") ?? "/tmp" }
