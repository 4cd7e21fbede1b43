internal import Assembly
internal import Domain
internal import Storage
internal import Wire

/// `bramley keys list`.
func keys(_ list: [String]) async throws(CommandFault) -> Int32 {
  let arguments = try parse(list)
  guard arguments.words == ["list"] else { throw .usage("keys takes `list`") }
  return try await withDatabase(arguments) { _, storage throws(CommandFault) in
    let book = try await fromStorage { () throws(StorageError) in try await storage.signingKeys() }
    let counts = try await fromStorage { () throws(StorageError) in try await storage.sessionCounts() }
    arguments.has("json") ? printJSON(json(book, counts)) : printTable(book, counts)
    return ExitStatus.done
  }
}

private func json(_ book: SigningKeyBook, _ counts: [MasterKeyID: Int]) -> JSONWriter {
  var out = JSONWriter()
  out.member(
    "signingKeys",
    jsonArray: book.keys.map { key in
      var out = JSONWriter()
      out.member("kid", key.id.text)
      out.member("alg", key.algorithm)
      out.member("role", key.role.rawValue)
      out.member("createdAt", key.createdAt.seconds)
      if let time = key.activeSince { out.member("activeSince", time.seconds) }
      if let time = key.retiredAt { out.member("retiredAt", time.seconds) }
      out.member("masterKey", key.masterKey.description)
      return out.finish()
    })
  out.object("liveSessionsByMasterKey") { out in
    for (id, count) in counts.sorted(by: { $0.key.description < $1.key.description }) {
      out.member(id.description, Int64(count))
    }
  }
  return out
}

private func printTable(_ book: SigningKeyBook, _ counts: [MasterKeyID: Int]) {
  for key in book.keys {
    print("\(key.id)  \(key.algorithm)  \(key.role.rawValue)  sealed by \(key.masterKey)")
  }
  for (id, count) in counts.sorted(by: { $0.key.description < $1.key.description }) {
    print("master key \(id): \(count) live \(count == 1 ? "session" : "sessions")")
  }
}
