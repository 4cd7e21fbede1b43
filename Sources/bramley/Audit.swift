internal import Assembly
internal import Domain
internal import Sessions
internal import Storage
internal import Wire

/// `bramley audit list`, `bramley audit verify` and `bramley audit restart`.
func audit(_ list: [String]) async throws(CommandFault) -> Int32 {
  var options: Set<String> = ["config"]
  if list.contains("list") {
    options.formUnion(["account", "after", "limit"])
  } else if list.contains("verify") {
    options.insert("head")
  }
  let arguments = try parse(list, options: options)
  switch arguments.words {
  case ["list"]: return try await listAudit(arguments)
  case ["verify"]: return try await verifyAudit(arguments)
  case ["restart"]: return try await restartAudit(arguments)
  default: throw .usage("audit takes `list`, `verify` or `restart`")
  }
}

private func listAudit(_ arguments: Arguments) async throws(CommandFault) -> Int32 {
  let limit = Int(try arguments.number("limit", 1...1000) ?? 100)
  let after = try arguments.number("after", 0...(.max)) ?? 0
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
  var witnesses: [AuditWitness] = []
  if let text = arguments["head"] {
    guard let witness = AuditWitness(text) else {
      throw .usage("--head takes a position, a colon and the digest as the log tells it")
    }
    witnesses.append(witness)
  }
  return try await withDatabase(arguments) { [witnesses] settings, storage throws(CommandFault) in
    let verdict: AuditVerdict
    do throws(StartFault) {
      verdict = try await verifyAudit(settings, in: storage, against: witnesses)
    } catch {
      throw CommandFault(status: error.exitStatus, message: error.sentence)
    }
    tell(arguments, verdict.text) { out in verdict.write(to: &out) }
    return verdict.exitStatus
  }
}

private func restartAudit(_ arguments: Arguments) async throws(CommandFault) -> Int32 {
  try await withDatabase(arguments, open: openDatabaseForChange) { settings, storage throws(CommandFault) in
    let found: AuditVerdict
    do throws(StartFault) {
      found = try await restartAudit(settings, in: storage)
    } catch {
      throw CommandFault(status: error.exitStatus, message: error.sentence)
    }
    guard case .broken = found else {
      complain("only an audit that is broken begins anew")
      tell(arguments, found.text) { out in found.write(to: &out) }
      return max(found.exitStatus, ExitStatus.refused)
    }
    tell(arguments, "\(found.text)\nit was thrown away, and a new one begins with a line that says so") {
      out in
      out.member("restarted", true)
      found.write(to: &out)
    }
    return ExitStatus.done
  }
}

extension AuditVerdict {
  fileprivate var text: String {
    switch self {
    case .intact(let sealed, let unsealed):
      "the audit is intact: \(sealed) lines are chained, \(unsealed) will be within seconds"
    case .notChained(_, let unsealed, let position):
      "the audit is intact, but nobody chains it: \(unsealed) lines are not chained, and the one at position \(position) "
        + "should be for more than a minute; is a service running?"
    case .notCompared(let witness, let begin):
      "the audit is intact, but could not be compared with the head at position \(witness.position): "
        + "it begins at position \(begin), and what was before was forgotten or thrown away"
    case .broken(let faults):
      (["the audit is broken:"] + faults.map { "position \($0.position): \($0.kind.sentence)" })
        .joined(separator: "\n")
    case .keyMissing(let id):
      "an end of the audit's chain needs master key \(id), which is not in the settings"
    }
  }

  fileprivate var exitStatus: Int32 {
    switch self {
    case .intact: ExitStatus.done
    case .broken, .notChained, .notCompared: ExitStatus.refused
    case .keyMissing: ExitStatus.configuration
    }
  }

  fileprivate func write(to out: inout JSONWriter) {
    switch self {
    case .intact(let sealed, let unsealed):
      out.member("verdict", "intact")
      out.member("sealed", Int64(sealed))
      out.member("unsealed", Int64(unsealed))
    case .notChained(let sealed, let unsealed, let position):
      out.member("verdict", "not_chained")
      out.member("sealed", Int64(sealed))
      out.member("unsealed", Int64(unsealed))
      out.member("position", position)
    case .notCompared(let witness, let begin):
      out.member("verdict", "not_compared")
      out.member("head", witness.description)
      out.member("position", begin)
    case .broken(let faults):
      out.member("verdict", "broken")
      let list = faults.map { fault in
        var out = JSONWriter()
        out.member("position", fault.position)
        out.member("fault", fault.kind.rawValue)
        return out.finish()
      }
      if let first = faults.first { out.member("position", first.position) }
      out.member("faults", jsonArray: list)
    case .keyMissing(let id):
      out.member("verdict", "key_missing")
      out.member("masterKey", id.description)
    }
  }
}
