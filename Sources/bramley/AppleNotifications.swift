internal import Domain
internal import Storage
internal import Wire

/// `bramley apple notifications`: those with events that nobody here understands.
func listNotifications(_ arguments: Arguments) async throws(CommandFault) -> Int32 {
  let limit = Int(try arguments.number("limit", 1...Int64(Limits.keptNotifications)) ?? 100)
  return try await withDatabase(arguments) { _, storage throws(CommandFault) in
    let kept = try await fromStorage { () throws(StorageError) in
      try await storage.keptNotifications(limit: limit)
    }
    if arguments.has("json") {
      var out = JSONWriter(reserving: 512 * (kept.count + 1))
      out.member("notifications", jsonArray: kept.map(\.json))
      printJSON(out)
    } else {
      for record in kept { print("\(record.receivedAt.seconds)  \(record.unknown ?? "")") }
    }
    return ExitStatus.done
  }
}

extension AppleNotificationRecord {
  fileprivate var json: [UInt8] {
    var out = JSONWriter(reserving: 512)
    out.member("receivedAt", receivedAt.seconds)
    out.member("forgottenAt", expiresAt.seconds)
    out.member("unknown", unknown)
    return out.finish()
  }
}
