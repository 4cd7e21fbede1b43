/// What is wrong with the URL of a PostgreSQL database, as far as that can be told without libpq; nil when nothing is.
///
/// A password with an `@`, a `/` or a `:` in it that is not percent-encoded has libpq take the rest of it for a host or a
/// port, and say it in its messages (postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS).
func postgresURLFault(_ url: String) -> String? {
  let rest = Array(url.utf8.drop { $0 != UInt8(ascii: "/") }.dropFirst(2))
  let address = rest.prefix { $0 != UInt8(ascii: "?") }
  let authority = address.prefix { $0 != UInt8(ascii: "/") }
  let signs = address.count { $0 == UInt8(ascii: "@") }
  let isMisplaced = signs > 0 && !authority.contains(UInt8(ascii: "@"))
  guard signs <= 1, !isMisplaced else {
    return "must have `@`, `/` and `:` in user name and password percent-encoded"
  }
  guard areEscapesWhole(rest) else { return "has a `%` that two hexadecimal digits do not follow" }
  let hosts = authority.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false).last ?? []
  guard hosts.split(separator: UInt8(ascii: ",")).allSatisfy(hasPortOrNone) else {
    return "has a port that is no number"
  }
  return nil
}

private func areEscapesWhole(_ bytes: [UInt8]) -> Bool {
  bytes.indices.allSatisfy { index in
    guard bytes[index] == UInt8(ascii: "%") else { return true }
    let digits = bytes[(index + 1)...].prefix(2)
    return digits.count == 2 && digits.allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
  }
}

/// An address of version 6 stands in brackets.
private func hasPortOrNone(_ host: ArraySlice<UInt8>) -> Bool {
  let behind = host.lastIndex(of: UInt8(ascii: "]")).map { host[($0 + 1)...] } ?? host
  guard let colon = behind.firstIndex(of: UInt8(ascii: ":")) else { return true }
  return behind[(colon + 1)...].allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
}
