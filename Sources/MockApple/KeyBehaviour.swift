internal import Wire

/// How the stand-in's key endpoint answers. Each is something that Apple's has done, or that whoever stands between
/// could do.
package enum KeyBehaviour: String, Sendable, CaseIterable {
  case good
  /// The set, but only after the time that was set.
  case slow
  /// 403 with a page, as some networks and user agents got it.
  case forbidden
  /// 503 with a page, as in outages.
  case unavailable
  /// 200 and a set without keys.
  case empty
  /// 200 and a page.
  case page
  /// Half of the set, then the end of the connection.
  case truncated
  /// The headers, and then nothing.
  case stalled
  /// A body that never ends.
  case endless
  /// Another host.
  case redirect
  /// No answer: the connection closes.
  case closed
  /// The set, and among its keys entries of unknown types, without names, and broken.
  case mixed
  /// Only the second and third key: the first was withdrawn.
  case withdrawn
  /// Only the first key: the others are yet to come.
  case early

  /// Status, media type and body of what is an answer; nil for what is not.
  func answer(_ keys: MockKeys) -> (status: String, type: String, body: [UInt8])? {
    let json = "application/json;charset=UTF-8"
    let page = Array("<html><body><h1>Not now</h1></body></html>".utf8)
    return switch self {
    case .good, .slow, .truncated, .stalled: ("200 OK", json, keys.keySetJSON)
    case .forbidden: ("403 Forbidden", "text/html", page)
    case .unavailable: ("503 Service Unavailable", "text/html", page)
    case .empty: ("200 OK", json, Array(#"{"keys":[]}"#.utf8))
    case .page: ("200 OK", "text/html", page)
    case .mixed: ("200 OK", json, keys.json(among: strangeKeys))
    case .withdrawn: ("200 OK", json, keys.json(of: 1...2))
    case .early: ("200 OK", json, keys.json(of: 0...0))
    case .endless, .redirect, .closed: nil
    }
  }
}

/// What a reader of a key set must step over: an unknown type, an entry without a name, one that is no object, a
/// padded number, a weak key, an encryption key.
private let strangeKeys: [[UInt8]] = [
  #"{"kty":"AKP","kid":"pqKey00001","alg":"ML-DSA-44","pub":"AAAA"}"#,
  #"{"kty":"RSA","use":"sig","alg":"RS256","n":"AQAB","e":"AQAB"}"#,
  "null",
  #"{"kty":"RSA","kid":"padded0001","use":"sig","alg":"RS256","n":"AQAB==","e":"AQAB"}"#,
  #"{"kty":"RSA","kid":"weak000001","use":"sig","alg":"RS256","n":"wQAB","e":"Aw"}"#,
  #"{"kty":"RSA","kid":"encKey0001","use":"enc","alg":"RSA-OAEP","n":"AQAB","e":"AQAB"}"#,
].map { Array($0.utf8) }
