internal import Glibc

/// A file that appears whole or not at all, and never in another's place: it is written under a temporary name, synced,
/// linked without overwriting, and its folder synced.
struct WholeFile {
  let path: String
  /// Where it is written; beside `path`, since a link stays in its file system.
  let temporary: String

  /// - Parameter suffix: Keeps two writers apart that begin at once.
  init(_ path: String, suffix: String) {
    self.path = path
    temporary = path + "." + suffix
  }

  /// Gives the file its name, once its contents are on the disk; the temporary one goes whatever happens.
  ///
  /// - Returns: Zero, or the system's error; `EEXIST` when there is a file of that name already.
  func publish() -> Int32 {
    defer { discard() }
    let code = sync(temporary, O_RDONLY)
    guard code == 0 else { return code }
    guard unsafe link(temporary, path) == 0 else { return errno }
    return sync(folder, O_RDONLY | O_DIRECTORY)
  }

  /// Removes what was written.
  func discard() { unsafe unlink(temporary) }

  private var folder: String {
    path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
  }

  private func sync(_ name: String, _ flags: Int32) -> Int32 {
    let descriptor = unsafe open(name, flags | O_CLOEXEC)
    guard descriptor >= 0 else { return errno }
    defer { close(descriptor) }
    return fsync(descriptor) == 0 ? 0 : errno
  }
}
