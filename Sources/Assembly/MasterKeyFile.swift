internal import Crypto
internal import Domain
internal import Glibc
internal import Sessions
package import Settings

/// The file beside an SQLite database that holds its master key, for who set none.
///
/// Of two processes that start at once, one makes it and both read the same.
struct MasterKeyFile {
  let path: String

  init(besideDatabase path: String) { self.path = path + ".master-key" }

  /// The key, or nil when there is no file.
  func read() throws(StartFault) -> Secret<[UInt8]>? {
    guard unsafe access(path, F_OK) == 0 else { return nil }
    guard let contents = readFile(path), let text = String(validating: contents, as: UTF8.self),
      let key = masterKeyBytes(fromText: String(text.prefix { $0 != "\n" }))
    else { throw .masterKeyUnreadable(path: path) }
    return key
  }

  /// What is doubtful about who may read the file, as a sentence; nil when nothing is, or there is no file.
  ///
  /// Doubtful and no fault: an operator may have given the file to a group on purpose.
  func looseness() -> String? {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return nil }
    if status.st_mode & (S_IRGRP | S_IROTH) != 0 {
      let mode = String(status.st_mode & 0o777, radix: 8)
      return
        "\(path) may be read by others than its owner (mode \(mode)): whoever has the key can make sessions; "
        + "make it 600"
    }
    // Root runs commands beside a service that has a user of its own.
    let user = geteuid()
    guard user == 0 || status.st_uid == user else {
      return "\(path) belongs to user \(status.st_uid) and not to user \(user), who reads it"
    }
    return nil
  }

  /// Makes the file with a new key, unless another process is faster, and returns the key that is in it.
  func create(entropy: Entropy) throws(StartFault) -> Secret<[UInt8]> {
    let key = Secret(entropy.bytes(MasterKey.byteCount))
    let file = WholeFile(path, suffix: hexText(entropy.bytes(8)))
    try write(masterKeyText(key).reveal() + "\n", to: file)
    let code = file.publish()
    guard code == 0 || code == EEXIST else { throw .masterKeyUnwritable(path: path, code: code) }
    guard let kept = try read() else { throw .masterKeyUnreadable(path: path) }
    return kept
  }

  private func write(_ text: String, to file: WholeFile) throws(StartFault) {
    let descriptor = unsafe open(file.temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .masterKeyUnwritable(path: path, code: errno) }
    defer { close(descriptor) }
    guard writeAll(Array(text.utf8), to: descriptor) else {
      let code = errno
      file.discard()
      throw .masterKeyUnwritable(path: path, code: code)
    }
  }
}

/// What is doubtful about the file of the master key, as a sentence; nil when nothing is, or it is not used.
package func masterKeyFileWarning(_ settings: Settings) -> String? {
  guard settings.masterKeys == nil, case .sqlite(let path) = settings.database else { return nil }
  return MasterKeyFile(besideDatabase: path).looseness()
}

/// The master keys in force: those that are set, else the one in the file beside the database.
///
/// - Parameter mayCreate: Whether the database is empty, so that a new key shuts nothing out.
func masterKeyRing(
  of settings: Settings, mayCreate: Bool, entropy: Entropy
) throws(StartFault) -> MasterKeyRing {
  var bytes = settings.masterKeys ?? []
  // Only beside a file is there a place for one; the settings are not read without a key for any other database.
  if bytes.isEmpty, case .sqlite(let path) = settings.database {
    let file = MasterKeyFile(besideDatabase: path)
    if let key = try file.read() {
      bytes = [key]
    } else if mayCreate {
      bytes = [try file.create(entropy: entropy)]
    } else {
      throw .masterKeyMissing(path: file.path)
    }
  }
  do {
    var made: [MasterKey] = []
    for key in bytes { made.append(try MasterKey(key)) }
    return MasterKeyRing(current: made[0], others: Array(made.dropFirst()))
  } catch {
    throw .cryptoUnavailable(detail: "\(error.operation): \(error.detail)")
  }
}
