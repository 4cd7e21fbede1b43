internal import Domain
internal import Storage

/// What the audit keeps of a change of signing keys: which were made, which signs from now on, that somebody asked for
/// another one, which was withdrawn on somebody's word, and that they were put under another seal. Keys that go when
/// nobody needs them any more are the log's.
func auditEntries(
  from before: [SigningKeyRecord], to after: [SigningKeyRecord], by origin: Origin, at now: UnixTime
) -> [AuditEntry] {
  func entry(_ action: AuditAction, _ detail: String?) -> AuditEntry {
    AuditEntry(
      at: now, action: action, actor: origin.actor.text, account: nil, session: nil, address: origin.address,
      requestID: origin.requestID, detail: detail)
  }
  var entries: [AuditEntry] = []
  if origin.actor != .system {
    let withdrawn = before.filter { key in !after.contains { $0.id == key.id } }
    entries += withdrawn.map { entry(.keyRevoked, $0.id.text) }
  }
  let made = after.filter { key in !before.contains { $0.id == key.id } }
  entries += made.map { entry(.keyMade, $0.id.text) }
  if let old = before.first(where: { $0.role == .active }),
    let new = after.first(where: { $0.role == .active })
  {
    if old.id != new.id {
      entries.append(entry(.keyRotated, new.id.text))
    } else if new.isToRetire && !old.isToRetire {
      entries.append(entry(.keyRotated, "requested"))
    }
  }
  let isRewrapped = before.contains { key in
    after.contains { $0.id == key.id && $0.masterKey != key.masterKey }
  }
  if isRewrapped { entries.append(entry(.keysRewrapped, nil)) }
  return entries
}
