import SQLLedger
import SQLiteStorage
import Storage
import Testing

/// The tables as they are moved, held against those that there are.
@Suite struct ArchiveTests {
  /// What belongs to running nodes, and the version of the signing keys, which goes by itself.
  private let ofNodes: Set = ["leases", "pulse", "signing_key_version"]

  @Test func `every table and every column is moved, and none that is not there`() throws {
    let folder = try Folder()
    _ = try SQLiteStorage.migrate(path: folder.database)
    let raw = try RawDatabase(folder.database)
    let names = try #require(
      try raw.text(
        "SELECT group_concat(name) FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"))
    let tables = Set(names.split(separator: ",").map(String.init)).subtracting(ofNodes)
    #expect(Set(ArchiveTable.all.map(\.name)) == tables)
    for table in ArchiveTable.all {
      let columns = try #require(
        try raw.text("SELECT group_concat(name || ' ' || type) FROM pragma_table_info('\(table.name)')"))
      let expected = table.columns.map { "\($0.name) \(word($0.kind))" }
      #expect(Set(columns.split(separator: ",").map(String.init)) == Set(expected), "\(table.name)")
      let key = try #require(
        try raw.text(
          "SELECT group_concat(name) FROM (SELECT name FROM pragma_table_info('\(table.name)') WHERE pk > 0 ORDER BY pk)"
        ))
      #expect(table.columns.prefix(table.keyLength).map(\.name).joined(separator: ",") == key)
    }
  }

  @Test func `the format has another number when the tables are others`() {
    let text = ArchiveTable.all.map { table in
      table.name + table.columns.map { "\($0.name)\($0.kind)" }.joined()
    }.joined()
    // A change here wants another `ArchiveTable.format`, and then another sum.
    let sum = text.utf8.reduce(UInt32(0)) { ($0 &* 31) &+ UInt32($1) }
    #expect(ArchiveTable.format == 1)
    #expect(sum == 1_966_991_529)
  }
}

private func word(_ kind: ArchiveTable.Column.Kind) -> String {
  switch kind {
  case .number: "INTEGER"
  case .text: "TEXT"
  case .bytes: "BLOB"
  }
}
