package import Domain
internal import Wire

// The two forms of an export: what `firebase auth:export` writes and `firebase auth:import` takes, which knows no other
// members than these.

/// The columns of a line of an export, which has no header. Each provider has four: subject, address, name and photo.
private enum ExportColumns {
  static let plain = [
    (0, "localId"), (1, "email"), (3, "passwordHash"), (5, "displayName"), (6, "photoUrl"), (23, "createdAt"),
    (24, "lastSignedInAt"), (25, "phoneNumber"), (27, "customAttributes"),
  ]
  static let flags = [(2, "emailVerified"), (26, "disabled")]
  static let providers = [
    (7, "google.com"), (11, "facebook.com"), (15, "twitter.com"), (19, "github.com"), (28, appleProviderID),
  ]
  static let ofProvider = ["rawId", "email", "displayName", "photoUrl"]
  /// Exports of before May 2026, and those since; each line ends in one more that is empty.
  static let before = 28
  static let since = 52
}

/// A line of values as the object that stands for the same user; nil when it has another number of them than any export.
func exportedJSON(of fields: [String]) -> [UInt8]? {
  let counts = [ExportColumns.before, ExportColumns.since]
  guard counts.contains(fields.count) || counts.contains(fields.count - 1) && fields.last == "" else {
    return nil
  }
  var out = JSONWriter(reserving: 512)
  for (column, name) in ExportColumns.plain where !fields[column].isEmpty { out.member(name, fields[column]) }
  for (column, name) in ExportColumns.flags where !fields[column].isEmpty { out.member(name, fields[column]) }
  out.member(
    "providerUserInfo",
    jsonArray: ExportColumns.providers.compactMap { column, provider -> [UInt8]? in
      guard column < fields.count, !fields[column].isEmpty else { return nil }
      var info = JSONWriter(reserving: 128)
      info.member("providerId", provider)
      for (offset, name) in ExportColumns.ofProvider.enumerated() where !fields[column + offset].isEmpty {
        info.member(name, fields[column + offset])
      }
      return info.finish()
    })
  return out.finish()
}

/// Writes accounts as an export.
package struct ExportWriter: Sendable {
  private let format: ExportFormat
  private var isFirst = true

  package init(_ format: ExportFormat) { self.format = format }

  /// What stands in front of the first.
  package var head: [UInt8] { format == .json ? Array("{\"users\": [\n".utf8) : [] }

  /// What stands behind the last.
  package var tail: [UInt8] { format == .json ? Array("\n]}\n".utf8) : [] }

  /// One account more.
  package mutating func append(_ account: Account, to out: inout [UInt8]) {
    switch format {
    case .json:
      if !isFirst { out.append(contentsOf: ",\n".utf8) }
      out.append(contentsOf: account.exportedJSON)
    case .csv:
      for field in account.exportedFields {
        appendCSVField(field, to: &out)
        out.append(UInt8(ascii: ","))
      }
      out.append(UInt8(ascii: "\n"))
    }
    isFirst = false
  }
}

extension Account {
  fileprivate var exportedJSON: [UInt8] {
    var out = JSONWriter(reserving: 512)
    out.member("localId", id.text)
    if let email = profile.email {
      out.member("email", email.text)
      out.member("emailVerified", profile.isEmailVerified)
    }
    out.member("displayName", displayName)
    out.member("photoUrl", photoURL)
    if lastSignInAt.seconds > 0 { out.member("lastSignedInAt", milliseconds(lastSignInAt)) }
    out.member("createdAt", milliseconds(createdAt))
    if isDisabled { out.member("disabled", true) }
    out.member("customAttributes", customClaims)
    out.member(
      "providerUserInfo",
      jsonArray: identities.map { identity in
        var info = JSONWriter(reserving: 128)
        info.member("providerId", identity.provider)
        for (name, value) in zip(ExportColumns.ofProvider, exportedFields(of: identity)) where !value.isEmpty
        {
          info.member(name, value)
        }
        return info.finish()
      })
    return out.finish()
  }

  fileprivate var exportedFields: [String] {
    var fields = [String](repeating: "", count: ExportColumns.since)
    fields[0] = id.text
    fields[1] = profile.email?.text ?? ""
    fields[2] = String(profile.isEmailVerified)
    fields[5] = displayName ?? ""
    fields[6] = photoURL ?? ""
    fields[23] = milliseconds(createdAt)
    if lastSignInAt.seconds > 0 { fields[24] = milliseconds(lastSignInAt) }
    if isDisabled { fields[26] = "true" }
    fields[27] = customClaims ?? ""
    for (column, provider) in ExportColumns.providers {
      guard let identity = identity(at: provider) else { continue }
      fields.replaceSubrange(column..<(column + 4), with: exportedFields(of: identity))
    }
    return fields
  }

  /// In the order of ``ExportColumns/ofProvider``.
  private func exportedFields(of identity: LinkedIdentity) -> [String] {
    [identity.subject.text, identity.email ?? "", identity.displayName ?? "", identity.photoURL ?? ""]
  }
}
