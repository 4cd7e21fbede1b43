internal import Crypto
internal import Domain
internal import SQLLedger
internal import Sessions
package import Settings
package import Storage

/// Why a database was not written out, or not taken in.
package enum MoveFault: Error, Sendable, Equatable {
  case unwritable(FileFault)
  case unreadable(code: Int32)
  /// The line of this number is none of an export, or is not where it can be.
  case malformed(line: Int)
  /// Among the lines up to the one of this number are some that cannot be in a database together.
  case inconsistent(line: Int)
  /// The file ends before its last line.
  case truncated(rows: Int64)
  case otherFormat(Int64)
  /// The lines do not come to what was written in the last one.
  case damaged
  /// Another export has come in by half.
  case otherArrival
  /// Somebody worked with the database meanwhile.
  case changedMeanwhile
  /// The database that is to take it in has something in it.
  case notEmpty
  case masterKeyMissing(String)
  case start(StartFault)
  case storage(StorageError)

  /// As that of a ``StartFault``.
  package var exitStatus: Int32 {
    switch self {
    case .unwritable(let fault): fault.isInTheWay ? 1 : 69
    case .malformed, .inconsistent, .truncated, .damaged, .otherArrival, .otherFormat,
      .changedMeanwhile, .notEmpty:
      1
    case .unreadable: 69
    case .masterKeyMissing: 78
    case .start(let fault): fault.exitStatus
    case .storage(let error): StartFault.storage(error).exitStatus
    }
  }

  /// A sentence for an operator.
  package var sentence: String {
    switch self {
    case .unwritable(let fault): fault.sentence
    case .unreadable(let code): "the export cannot be read: \(words(forSystemError: code))"
    case .malformed(let line): "line \(line) is none of an export"
    case .inconsistent(let line):
      "the lines up to \(line) are not as an export has them: there is a value that cannot be, or a line that needs "
        + "another which should stand before it"
    case .damaged:
      "the export was damaged or changed after it was written: begin again with a new database and another copy"
    case .otherArrival:
      "another export has come in by half: go on with its own file, or begin again with a new database"
    case .truncated(let rows):
      "the export breaks off after \(rows) rows; import the whole file, which goes on from here"
    case .otherFormat(let format):
      "the export has format \(format), and this version of the program writes and reads "
        + "\(ArchiveTable.format): use one version for both"
    case .changedMeanwhile:
      "somebody worked with the database meanwhile: stop the services and begin again"
    case .notEmpty: "there is something in the database already: an export is taken in by an empty one"
    case .masterKeyMissing(let id):
      "the export needs the master key \(id), which is not in BRAMLEY_MASTER_KEY: put it in the list"
    case .start(let fault): fault.sentence
    case .storage(let error): StartFault.storage(error).sentence
    }
  }
}

/// How many rows of each table went.
package struct MoveTally: Sendable, Equatable {
  package private(set) var tables: [(name: String, rows: Int64)] = []

  package var rows: Int64 { tables.reduce(0) { $0 + $1.rows } }

  mutating func count(_ rows: Int, of table: String) {
    if tables.last?.name == table {
      tables[tables.count - 1].rows += Int64(rows)
    } else {
      tables.append((table, Int64(rows)))
    }
  }

  package static func == (a: MoveTally, b: MoveTally) -> Bool {
    a.tables.elementsEqual(b.tables) { $0 == $1 }
  }
}

private let pageLimit = 500

/// Writes a whole database as lines of JSON: everything in clear but the secrets, which stay under the seals of the master
/// keys. The services should not run: sign-ins and changes meanwhile are noticed, and the export is then none. A refresh is not;
/// its token is taken all the same, as one that is newer than the database.
///
/// - Parameter path: `-` is standard output.
package func export(
  _ settings: Settings, from storage: any Archive, to path: String
) async throws(MoveFault) -> MoveTally {
  let file: NewFile
  do {
    file = try NewFile(path)
  } catch {
    throw .unwritable(error)
  }
  do throws(MoveFault) {
    return try await export(settings, from: storage, into: file)
  } catch {
    file.discard()
    throw error
  }
}

private func export(
  _ settings: Settings, from storage: any Archive, into file: borrowing NewFile
) async throws(MoveFault) -> MoveTally {
  let header = try await stored { () throws(StorageError) in try await archiveHeader(settings, storage) }
  let chain = try await stored { () throws(StorageError) in try await storage.auditChain() }
  try written { () throws(FileFault) in try file.write(header.line) }
  var tally = MoveTally()
  var digest = ArchiveDigest()
  digest.take(header.line.dropLast())
  var lastLine: ArchiveRow?
  for table in ArchiveTable.all {
    var last: ArchiveRow?
    repeat {
      let place = last
      let page = try await stored { () throws(StorageError) in
        try await storage.rows(of: table, after: place, limit: pageLimit)
      }
      let lines = page.map { archiveLine(of: $0, in: table) }
      for line in lines { digest.take(line.dropLast()) }
      try written { () throws(FileFault) in try file.write(lines.flatMap { $0 }) }
      tally.count(page.count, of: table.name)
      last = page.count < pageLimit ? nil : page.last
      if table == .audit { lastLine = page.last ?? lastLine }
    } while last != nil
  }
  let audited = lastLine
  let isAsBefore = try await stored { () throws(StorageError) in
    let more = try await storage.rows(of: .audit, after: audited, limit: 1)
    let present = try await storage.auditChain()
    let version = try await storage.signingKeys().version
    return more.isEmpty && present == chain && version == header.signingKeyVersion
  }
  guard isAsBefore else { throw .changedMeanwhile }
  try written { () throws(FileFault) in
    try file.write(archiveEnd(rows: tally.rows, digest))
    try file.finish()
  }
  return tally
}

private func archiveHeader(
  _ settings: Settings, _ storage: any Archive
) async throws(StorageError) -> ArchiveHeader {
  let now = WallClock.system.now()
  let book = try await storage.signingKeys()
  var keys = Set(book.keys.map(\.masterKey))
  keys.formUnion(try await storage.sessionCounts(within: settings.sessionLimits, at: now).keys)
  keys.formUnion(try await storage.auditChain().endsByMasterKey.keys)
  keys.formUnion(try await storage.appleSecretCounts().keys)
  return ArchiveHeader(
    format: ArchiveTable.format, exportedAt: now,
    id: hexText(Entropy.system.bytes(16)), masterKeys: keys.sorted { $0.description < $1.description },
    signingKeyVersion: book.version)
}

/// Takes an export into an empty database, and puts its secrets under the seal of the first master key. One that broke off
/// goes on where it was with the same file; until it has ended no service works on the database.
///
/// - Parameter path: `-` is standard input.
package func takeIn(
  _ settings: Settings, from path: String, into storage: any Archive
) async throws(MoveFault) -> MoveTally {
  var archive = try ArchiveReader(path)
  let header = try archive.header()
  try demandKeys(header, settings)
  try await begin(header, in: storage)
  let tally = try await copyRows(&archive, into: storage)
  try await stored { () throws(StorageError) in
    // Another import of the same file may have been faster.
    guard try await storage.endArrival(signingKeyVersion: header.signingKeyVersion) else { return }
    try await storage.append(
      AuditEntry(
        at: WallClock.system.now(), action: .databaseRestored, actor: Actor.command.text, account: nil,
        session: nil, address: [], requestID: nil, detail: "imported"))
  }
  do {
    if !header.masterKeys.isEmpty { _ = try await rewrap(settings, in: storage) }
  } catch {
    throw .start(error)
  }
  return tally
}

private func demandKeys(_ header: ArchiveHeader, _ settings: Settings) throws(MoveFault) {
  guard !header.masterKeys.isEmpty else { return }
  let ring: MasterKeyRing
  do {
    ring = try masterKeyRing(of: settings, mayCreate: false, entropy: .system)
  } catch {
    throw .start(error)
  }
  for id in header.masterKeys where ring[id] == nil { throw .masterKeyMissing(id.description) }
}

private func begin(_ header: ArchiveHeader, in storage: any Archive) async throws(MoveFault) {
  let name = hexText(sha256(header.line).prefix(16))
  let hindrance = try await stored { () throws(StorageError) -> MoveFault? in
    if let arriving = try await storage.arrival() { return arriving == name ? nil : .otherArrival }
    guard try await isUnused(storage) else { return .notEmpty }
    try await storage.beginArrival(of: name)
    return nil
  }
  if let hindrance { throw hindrance }
}

private func copyRows(
  _ archive: inout ArchiveReader, into storage: any Archive
) async throws(MoveFault) -> MoveTally {
  var tally = MoveTally()
  var (table, rows) = (ArchiveTable?.none, [ArchiveRow]())
  while true {
    guard let next = try archive.next() else { throw .truncated(rows: archive.rowsBefore) }
    if case .row(let row, let same) = next, table == same, rows.count < pageLimit {
      rows.append(row)
      continue
    }
    if let full = table {
      let page = rows
      do throws(StorageError) {
        try await storage.add(page, to: full)
      } catch {
        throw error == .defect ? .inconsistent(line: archive.number - 1) : .storage(error)
      }
      tally.count(page.count, of: full.name)
    }
    switch next {
    case .header: throw .malformed(line: archive.number)
    case .row(let row, let other): (table, rows) = (other, [row])
    case .end(let rows, let digest):
      try archive.demandEnd(rows: rows, digest: digest, of: tally.rows)
      return tally
    }
  }
}

private func written(_ write: () throws(FileFault) -> Void) throws(MoveFault) {
  do {
    try write()
  } catch {
    throw .unwritable(error)
  }
}

private func stored<R>(_ ask: () async throws(StorageError) -> R) async throws(MoveFault) -> R {
  do {
    return try await ask()
  } catch {
    throw .storage(error)
  }
}
