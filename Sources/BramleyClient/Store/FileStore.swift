#if !canImport(Darwin) || os(macOS)
  public import Foundation

  /// Keeps the session in a file that nobody but its owner may read, for where there is no Keychain.
  ///
  /// The file is replaced as a whole and is on disk before anybody is told; one that others may read is closed to them. Beside it lie two files that processes lock:
  /// `.lock` for a moment, and `.refresh` while one of them asks for tokens. It is not there on Apple's devices but for the
  /// Mac: a process that holds a lock on a shared file while it is suspended is ended there, and looking at a file's mode is a
  /// thing that their store wants a reason for.
  public final class FileStore: SessionStore {
    private let path: String

    /// A store at a path whose folder exists, or can be made with mode 0700. A symbolic link there is followed.
    public init(path: String) {
      var place = URL(fileURLWithPath: path).absoluteURL
      // One that leads round in a circle stays what it is, and cannot be opened.
      for _ in 0..<8 {
        guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: place.path) else {
          break
        }
        place = URL(fileURLWithPath: target, relativeTo: place.deletingLastPathComponent()).absoluteURL
      }
      self.path = place.path
    }

    /// One in the home folder of whoever runs the program: `~/.local/state/bramley/<name>`.
    public convenience init(name: String) {
      self.init(path: NSHomeDirectory() + "/.local/state/bramley/" + name)
    }

    /// Reads and changes the file while no other process does.
    public func update<R>(_ body: (inout Data?) throws -> R) throws -> R {
      let lock = try FileLock(path + ".lock")
      // Others hold it while they read and write a few kilobytes; one that was stopped there may do so for long.
      let end = ContinuousClock.now + .seconds(10)
      while !lock.take() {
        guard ContinuousClock.now < end else { throw StoreFault(call: "flock", code: EWOULDBLOCK) }
        usleep(1000)
      }
      defer { lock.release() }
      let before = try read()
      var value = before
      let result = try body(&value)
      if value != before { try write(value) }
      return result
    }

    /// Waits until no other process refreshes, for ten seconds at most.
    public func alone<R: Sendable>(_ body: @Sendable () async throws -> R) async throws -> R {
      // Where no lock can be made a session stands two refreshes at once, as it does when the wait was too long.
      guard let lock = try? FileLock(path + ".refresh") else { return try await body() }
      defer { lock.release() }
      let end = ContinuousClock.now + .seconds(10)
      while !lock.take(), ContinuousClock.now < end {
        // In a task that was cancelled there is no waiting.
        guard (try? await Task.sleep(for: .milliseconds(20))) != nil else { break }
      }
      return try await body()
    }

    /// The file's content, which needs no lock: there is always a whole one.
    public func read() throws -> Data? {
      // A pipe that nobody writes to would keep whoever opens it.
      let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
      if descriptor < 0, errno == ENOENT { return nil }
      guard descriptor >= 0 else { throw StoreFault(call: "open", code: errno) }
      let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
      var state = stat()
      guard unsafe fstat(descriptor, &state) == 0 else { throw StoreFault(call: "fstat", code: errno) }
      // What is no file is nobody's session, and its mode none of ours.
      guard state.st_mode & S_IFMT == S_IFREG else { throw StoreFault(call: "open", code: EISDIR) }
      if state.st_mode & 0o077 != 0, fchmod(descriptor, 0o600) != 0 {
        throw StoreFault(call: "fchmod", code: errno)
      }
      return try file.readToEnd() ?? Data()
    }

    /// A place that is none, or somebody else's, stays so.
    public func mayPass(_ fault: any Error) -> Bool {
      guard let fault = fault as? StoreFault else { return true }
      return ![EACCES, EPERM, EISDIR, ENOTDIR, ELOOP, ENAMETOOLONG].contains(fault.code)
    }

    private func write(_ value: Data?) throws {
      let folder = (path as NSString).deletingLastPathComponent
      guard let value else {
        guard unsafe unlink(path) == 0 || errno == ENOENT else {
          throw StoreFault(call: "unlink", code: errno)
        }
        return try sync(folder)
      }
      // Only one process is here at a time; what a crash left behind is of no use.
      let temporary = path + ".new"
      _ = unsafe unlink(temporary)
      let descriptor = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
      guard descriptor >= 0 else { throw StoreFault(call: "open", code: errno) }
      let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
      try file.write(contentsOf: value)
      try file.synchronize()
      try file.close()
      guard unsafe rename(temporary, path) == 0 else { throw StoreFault(call: "rename", code: errno) }
      try sync(folder)
    }

    /// Sees to it that a name is on disk.
    private func sync(_ folder: String) throws {
      let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      guard descriptor >= 0 else { throw StoreFault(call: "open", code: errno) }
      defer { close(descriptor) }
      guard fsync(descriptor) == 0 else { throw StoreFault(call: "fsync", code: errno) }
    }
  }

  /// A system call that the store cannot do without has failed.
  struct StoreFault: Error {
    let call: String
    let code: Int32
  }

  /// A file that processes lock (flock(2)); the system takes the lock from one that ends.
  private final class FileLock: Sendable {
    private let descriptor: Int32

    init(_ path: String) throws {
      let folder = (path as NSString).deletingLastPathComponent
      if !FileManager.default.fileExists(atPath: folder) {
        try FileManager.default.createDirectory(
          atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      }
      descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
      guard descriptor >= 0 else { throw StoreFault(call: "open", code: errno) }
    }

    deinit { close(descriptor) }

    func take() -> Bool { flock(descriptor, LOCK_EX | LOCK_NB) == 0 }
    func release() { _ = flock(descriptor, LOCK_UN) }
  }
#endif
