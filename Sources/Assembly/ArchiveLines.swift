internal import Crypto
internal import Domain
internal import Storage
internal import SQLLedger
internal import Wire

/// What a line of an export is, in JSON: the first says what is needed to read the others, the last that there are no more.
enum ArchiveLine {
  case header(ArchiveHeader)
  case row(ArchiveRow, of: ArchiveTable)
  case end(rows: Int64, digest: String?)
}

/// What the lines of an export come to, in their order: a copy that was damaged or changed comes to something else.
struct ArchiveDigest: Sendable {
  private var value = [UInt8](repeating: 0, count: 32)

  /// - Parameter line: Without its end.
  mutating func take(_ line: some Collection<UInt8>) { value = sha256(value + line) }

  var text: String { hexText(value) }
}

/// The first line of an export.
struct ArchiveHeader: Sendable, Equatable {
  let format: Int64
  let exportedAt: UnixTime
  /// A random name: an import that broke off goes on with the same export only.
  let id: String
  /// The master keys that what is in it hangs on.
  let masterKeys: [MasterKeyID]
  let signingKeyVersion: Int64

  var line: [UInt8] {
    var out = JSONWriter()
    out.member("bramley", "export")
    out.member("format", format)
    out.member("exportedAt", exportedAt.seconds)
    out.member("id", id)
    out.member("masterKeys", masterKeys.map(\.description))
    out.member("signingKeyVersion", signingKeyVersion)
    return out.finish() + [0x0A]
  }
}

/// Why a line is none of an export.
enum ArchiveLineError: Error, Equatable, Sendable {
  case malformed
  /// Of another version of this program, which has other tables.
  case otherFormat(Int64)
}

func archiveLine(of row: ArchiveRow, in table: ArchiveTable) -> [UInt8] {
  var out = JSONWriter(reserving: 512)
  out.object(table.name) { out in
    for (column, value) in zip(table.columns, row) {
      switch value {
      case .null: break
      case .number(let number): out.member(column.name, number)
      case .text(let text): out.member(column.name, text)
      case .bytes(let bytes): out.member(column.name, base64URLText(bytes))
      }
    }
  }
  return out.finish() + [0x0A]
}

func archiveEnd(rows: Int64, _ digest: ArchiveDigest) -> [UInt8] {
  var out = JSONWriter()
  out.object("end") { out in
    out.member("rows", rows)
    out.member("digest", digest.text)
  }
  return out.finish() + [0x0A]
}

extension ArchiveLine {
  init(parsing bytes: some Collection<UInt8>) throws(ArchiveLineError) {
    let object: JSONObject
    do {
      object = try JSONObject(parsing: bytes)
    } catch {
      throw .malformed
    }
    if object["bramley"] != nil {
      self = .header(try ArchiveHeader(object))
    } else if case .object(let end) = object["end"] {
      guard case .integer(let rows) = end["rows"] else { throw .malformed }
      self = .end(rows: rows, digest: end.text("digest"))
    } else {
      guard let name = object.names.first, object.names.count == 1, case .object(let members) = object[name],
        let table = ArchiveTable.all.first(where: { $0.name == name })
      else { throw .malformed }
      self = .row(try archiveRow(members, of: table), of: table)
    }
  }
}

extension ArchiveHeader {
  fileprivate init(_ object: JSONObject) throws(ArchiveLineError) {
    guard object.text("bramley") == "export", case .integer(let format) = object["format"] else {
      throw .malformed
    }
    guard format == ArchiveTable.format else { throw .otherFormat(format) }
    guard case .integer(let exportedAt) = object["exportedAt"], let id = object.text("id"),
      case .array(let keys) = object["masterKeys"],
      case .integer(let version) = object["signingKeyVersion"]
    else { throw .malformed }
    var ids: [MasterKeyID] = []
    for key in keys {
      guard case .text(let text) = key, let id = hexBytes(text).flatMap({ MasterKeyID($0) }) else {
        throw .malformed
      }
      ids.append(id)
    }
    self.init(
      format: format, exportedAt: UnixTime(exportedAt), id: id, masterKeys: ids, signingKeyVersion: version)
  }
}

private func archiveRow(_ object: JSONObject, of table: ArchiveTable) throws(ArchiveLineError) -> ArchiveRow {
  var row: ArchiveRow = []
  row.reserveCapacity(table.columns.count)
  var found = 0
  for column in table.columns {
    let value = try value(object[column.name], of: column.kind)
    if value != .null { found += 1 }
    row.append(value)
  }
  // A column that we do not know would be lost without a word.
  guard found == object.names.count else { throw .malformed }
  return row
}

private func value(
  _ value: JSONValue?, of kind: ArchiveTable.Column.Kind
) throws(ArchiveLineError) -> ArchiveValue {
  switch (value, kind) {
  case (nil, _): return .null
  case (.integer(let number), .number): return .number(number)
  case (.text(let text), .text): return .text(text)
  case (.text(let text), .bytes):
    guard let bytes = try? decodeBase64URL(text.utf8) else { throw .malformed }
    return .bytes(bytes)
  default: throw .malformed
  }
}
