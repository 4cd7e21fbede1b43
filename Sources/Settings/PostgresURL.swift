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
  return parametersFault(
    query: rest.dropFirst(address.count + 1), namesDatabase: address.dropFirst(authority.count).count > 1)
}

/// What a URL may say behind its `?` (postgresql.org/docs/15/libpq-connect.html#LIBPQ-PARAMKEYWORDS): all that the libpq
/// knows which this program is built for, save `replication`, which is no connection for work.
private let knownParameters = [
  "application_name", "channel_binding", "client_encoding", "connect_timeout", "dbname",
  "fallback_application_name", "gssencmode", "gsslib", "host", "hostaddr", "keepalives", "keepalives_count",
  "keepalives_idle", "keepalives_interval", "krbsrvname", "options", "passfile", "password", "port",
  "requirepeer", "service", "ssl_max_protocol_version", "ssl_min_protocol_version", "sslcert",
  "sslcompression", "sslcrl", "sslcrldir", "sslkey", "sslmode", "sslpassword", "sslrootcert", "sslsni",
  "target_session_attrs", "tcp_user_timeout", "user",
]

/// The names of parameters are not repeated: of a password with a `?` in it they are a part.
private func parametersFault(query: ArraySlice<UInt8>, namesDatabase: Bool) -> String? {
  var namesDatabase = namesDatabase
  for parameter in query.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
  where !query.isEmpty {
    let name = String(decoding: parameter.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self)
    // As JDBC says it, which libpq understands.
    let isOfJDBC = parameter.elementsEqual("ssl=true".utf8)
    guard isOfJDBC || (knownParameters.contains(name) && parameter.count > name.utf8.count) else {
      return "has a parameter behind its `?` that is not one of " + knownParameters.joined(separator: ", ")
    }
    if name == "dbname" || name == "service" { namesDatabase = true }
  }
  if namesDatabase { return nil }
  return
    "must name a database, as postgres://HOST/NAME does: libpq would take one that is called like the user, or like "
    + "who runs this program"
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
