/// Google's services whose part this server plays. Firebase's SDKs reach them by DNS and the `Host` header, or, as
/// they reach the emulator, with the service's name as first segment of the path.
package enum GoogleHost: String, Sendable, CaseIterable {
  case identityToolkit = "identitytoolkit.googleapis.com"
  case secureToken = "securetoken.googleapis.com"
  case googleAPIs = "www.googleapis.com"
  /// The issuer of Firebase's session tokens, where its discovery document is.
  case secureTokenIssuer = "securetoken.google.com"

  /// The service that a `Host` field names, in whatever case and with whatever port.
  init?(hostField text: String) {
    // Asked of every request: what begins otherwise is not looked at twice.
    guard text.utf8.count >= Self.shortest, Self.initials.contains((text.utf8.first ?? 0) | 0x20),
      let authority = Authority(text)
    else { return nil }
    self.init(rawValue: authority.host)
  }

  private static let initials = Set(allCases.compactMap(\.rawValue.utf8.first))
  private static let shortest = allCases.map(\.rawValue.utf8.count).min() ?? 0

  /// The service that a path begins with, and what is left of the path.
  static func prefix(of path: String) -> (host: GoogleHost, path: String)? {
    let rest = path.utf8.dropFirst()
    guard let initial = rest.first, initials.contains(initial), rest.count > shortest else { return nil }
    for host in allCases where rest.starts(with: host.rawValue.utf8) {
      let path = rest.dropFirst(host.rawValue.utf8.count)
      if path.first == UInt8(ascii: "/"), let text = String(path) { return (host, text) }
    }
    return nil
  }
}
