internal import API
internal import Assembly
internal import Domain
internal import Storage
internal import Wire

/// `bramley export-firebase`.
func exportFirebase(_ list: [String]) async throws(CommandFault) -> Int32 {
  let arguments = try parse(list, switches: ["csv"])
  guard arguments.words.count == 1, let path = arguments.words.first else {
    throw .usage("export-firebase takes one file, or `-` for standard output")
  }
  let format = exportFormat(of: path, arguments)
  return try await withDatabase(arguments) { _, storage throws(CommandFault) in
    let file: NewFile
    do throws(FileFault) {
      file = try NewFile(path)
    } catch {
      throw .unavailable(error.sentence)
    }
    do throws(CommandFault) {
      let count = try await write(ExportWriter(format), of: storage, to: file)
      if path != "-" { print("\(count) accounts written to \(path)") }
    } catch {
      file.discard()
      throw error
    }
    return ExitStatus.done
  }
}

/// Page by page, so that it takes no more memory for a million.
///
/// - Returns: How many there were.
private func write(
  _ writer: ExportWriter, of storage: any Storage, to file: borrowing NewFile
) async throws(CommandFault) -> Int {
  var (writer, out, count) = (writer, writer.head, 0)
  var cursor: AccountCursor?
  repeat {
    let start = cursor
    let page = try await fromStorage { () throws(StorageError) in
      try await storage.accounts(after: start, limit: Limits.accountBatch)
    }
    for account in page.accounts { writer.append(account, to: &out) }
    count += page.accounts.count
    cursor = page.next
    if cursor == nil { out += writer.tail }
    do throws(FileFault) {
      try file.write(out)
      if cursor == nil { try file.finish() }
    } catch {
      throw .unavailable(error.sentence)
    }
    out.removeAll(keepingCapacity: true)
  } while cursor != nil
  return count
}
