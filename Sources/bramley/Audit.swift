internal import Assembly
internal import Domain
internal import Sessions
internal import Storage
internal import Wire

/// `bramley audit list` and `bramley audit verify`.
func audit(_ list: [String]) async throws(CommandFault) -> Int32 {
  let isList = list.contains("list")
  let arguments = try parse(list, options: isList ? ["config", "account", "after", "limit"] : ["config"])
  switch arguments.words {
  case ["list"]: return try await listAudit(arguments)
  case ["verify"]: return try await verifyAudit(arguments)
  default: throw .usage("audit takes `list` or `verify`")
  }
}

private func listAudit(_ arguments: Arguments) async throws(CommandFault) -> Int32 {
  let limit = Int(try number("limit", of: arguments, 1...1000) ?? 100)
  let after = try number("after", of: arguments, 0...(.max)) ?? 0
  var account: AccountID?
  if let text = arguments["account"] { account = try accountID(text) }
  let query = AuditQuery(after: after, account: account, limit: limit)
  return try await withDatabase(arguments) { _, storage throws(CommandFault) in
    let lines = try await fromStorage { () throws(StorageError) in try await storage.audit(query) }
    let cursor = lines.last?.entry.position ?? after
    if arguments.has("json") {
      var out = JSONWriter()
      out.member("entries", jsonArray: lines.map(\.entry.json))
      out.member("cursor", String(cursor))
      printJSON(out)
    } else {
      for line in lines { print(String(decoding: line.entry.json, as: UTF8.self)) }
      if lines.count == limit { print("more: --after \(cursor)") }
    }
    return ExitStatus.done
  }
}

private func verifyAudit(_ arguments: Arguments) async throws(CommandFault) -> Int32 {
  try await withDatabase(arguments) { settings, storage throws(CommandFault) in
    let verdict: AuditVerdict
    do throws(StartFault) {
      verdict = try await verifyAudit(settings, in: storage)
    } catch {
      throw CommandFault(status: error.exitStatus, message: error.sentence)
    }
    tell(arguments, verdict.sentence) { out in verdict.write(to: &out) }
    return verdict.exitStatus
  }
}

extension AuditVerdict {
  fileprivate var sentence: String {
    switch self {
    case .intact(let sealed, let unsealed):
      "the audit is intact: \(sealed) lines are chained, \(unsealed) will be within seconds"
    case .broken(let position):
      "the audit is broken at position \(position): that line, or one before it, was changed, added or taken away"
    case .forged: "an end of the audit's chain has a code that no master key of the settings made"
    case .keyMissing(let id):
      "an end of the audit's chain needs master key \(id), which is not in the settings"
    }
  }

  fileprivate var exitStatus: Int32 {
    switch self {
    case .intact: ExitStatus.done
    case .broken, .forged: ExitStatus.refused
    case .keyMissing: ExitStatus.configuration
    }
  }

  fileprivate func write(to out: inout JSONWriter) {
    switch self {
    case .intact(let sealed, let unsealed):
      out.member("verdict", "intact")
      out.member("sealed", Int64(sealed))
      out.member("unsealed", Int64(unsealed))
    case .broken(let position):
      out.member("verdict", "broken")
      out.member("position", position)
    case .forged: out.member("verdict", "forged")
    case .keyMissing(let id):
      out.member("verdict", "key_missing")
      out.member("masterKey", id.description)
    }
  }
}
