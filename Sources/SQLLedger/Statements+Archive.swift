internal import Storage

// The one place where SQL is put together: of names that are written in `ArchiveTables.swift`.
extension ArchiveTable {
  private var names: String { columns.map(\.name).joined(separator: ", ") }

  func selection(isFirst: Bool) -> String {
    let key = columns.prefix(keyLength).map(\.name).joined(separator: ", ")
    let marks = (1...keyLength).map { "?\($0)" }.joined(separator: ", ")
    let condition = isFirst ? "" : " WHERE (\(key)) > (\(marks))"
    return "SELECT \(names) FROM \(name)\(condition) ORDER BY \(key) LIMIT ?\(isFirst ? 1 : keyLength + 1)"
  }

  var insertion: String {
    let marks = (1...columns.count).map { "?\($0)" }.joined(separator: ", ")
    return "INSERT INTO \(name) (\(names)) VALUES (\(marks)) ON CONFLICT DO NOTHING"
  }
}
