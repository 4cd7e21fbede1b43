internal import Domain
internal import Crypto
internal import Wire

/// A person of one team on the way to another. All of it follows from the two, so that every process gives the same.
package struct MockTransfer: Sendable, Equatable {
  /// The subject at the team that the app comes from.
  package let person: String
  /// The team that the app goes to.
  package let team: String

  private static let key = MACKey(sha256(Array("transfers of the stand-in for Apple".utf8)))

  package init(person: String, team: String) {
    self.person = person
    self.team = team
  }

  /// `transfer_sub`.
  package var transferSubject: String {
    var out = JSONWriter()
    out.member("sub", person)
    out.member("team", team)
    let body = base64URLText(out.finish())
    return "t\(body).\(base64URLText(Array(Self.key.code(for: Array(body.utf8)).prefix(16))))"
  }

  /// Reads a transfer subject; nil for what is none of the stand-in's.
  package init?(_ text: String) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard text.hasPrefix("t"), parts.count == 2 else { return nil }
    let body = parts[0].dropFirst()
    guard let code = try? decodeBase64URL(parts[1].utf8),
      Self.key.isCode(code, for: Array(body.utf8), length: 16),
      let json = try? decodeBase64URL(body.utf8), let object = try? JSONObject(parsing: json),
      let person = object.text("sub"), let team = object.text("team")
    else { return nil }
    self.init(person: person, team: team)
  }

  /// The subject of the person at the team that the app goes to.
  package var subject: String { "002468.\(digits(of: "subject", 32)).0246" }

  /// The relay address that the person has there.
  package var relayAddress: String { digits(of: "address", 16) + "@privaterelay.appleid.com" }

  private func digits(of what: String, _ count: Int) -> String {
    String(hexText(sha256(fields: [Array(what.utf8), Array(person.utf8), Array(team.utf8)])).prefix(count))
  }
}
