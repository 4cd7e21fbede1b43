internal import CMicroHTTPD

/// A head that passed every check, before any body.
struct RequestHead {
  let method: String
  let path: String
  let query: String?
  let headers: Headers
  /// What the head says about the body.
  let framing: BodyFraming
}

/// How long a body is (RFC 9112 §6).
enum BodyFraming: Equatable {
  case none
  case length(Int)
  case chunked
}

extension RequestHead {
  /// Field lines that are read; more is a mistake or an attack on whoever loops over them.
  static let fieldLimit = 100

  /// Checks a head by the rules that keep two parsers from reading two requests (RFC 9112 §11.2).
  ///
  /// libmicrohttpd 0.9.75 lets `Content-Length` beside `Transfer-Encoding`, two `Content-Length`s and
  /// `Content-Length : 3` through, also in its strict mode.
  ///
  /// - Parameter headers: As the library keeps them, white space at a value's end included: it frames the body
  ///   by those very bytes, so `Transfer-Encoding: chunked ` must not pass for `chunked` here.
  static func read(
    method: [UInt8], target: [UInt8], isHTTP10: Bool, headers: Headers
  ) -> Result<RequestHead, HeadFault> {
    guard isToken(method.span), isTarget(target, of: method) else { return .failure(.malformed) }
    guard headers.fields.count <= fieldLimit else { return .failure(.tooLarge) }
    guard headers.fields.allSatisfy(\.isWellFormed) else { return .failure(.malformed) }
    let hosts = headers.count(of: "Host")
    guard hosts == 1 || (hosts == 0 && isHTTP10) else { return .failure(.malformed) }
    guard let framing = framing(headers, isHTTP10: isHTTP10) else { return .failure(.malformed) }
    let mark = target.firstIndex(of: 0x3F)
    // Both are ASCII by now, so decoding repairs nothing.
    return .success(
      RequestHead(
        method: String(decoding: method, as: UTF8.self),
        path: String(decoding: target[..<(mark ?? target.endIndex)], as: UTF8.self),
        query: mark.map { String(decoding: target[($0 + 1)...], as: UTF8.self) },
        headers: headers.trimmed, framing: framing))
  }

  /// Origin form, or `*` for OPTIONS (RFC 9112 §3.2); printable ASCII without spaces.
  private static func isTarget(_ target: [UInt8], of method: [UInt8]) -> Bool {
    guard target.allSatisfy({ (0x21...0x7E).contains($0) }) else { return false }
    return target.first == 0x2F || (target == [0x2A] && method == Array("OPTIONS".utf8))
  }

  /// Nil when the body's length is ambiguous or no number.
  private static func framing(_ headers: Headers, isHTTP10: Bool) -> BodyFraming? {
    let lengths = headers.all("Content-Length")
    let codings = headers.all("Transfer-Encoding")
    if let coding = codings.first {
      return codings.count == 1 && coding == "chunked" && lengths.isEmpty && !isHTTP10 ? .chunked : nil
    }
    guard let length = lengths.first else { return BodyFraming.none }
    // Digits only: Int("+3") is 3. Eighteen of them fit.
    guard lengths.count == 1, (1...18).contains(length.utf8.count),
      length.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let bytes = Int(length)
    else { return nil }
    return bytes == 0 ? BodyFraming.none : .length(bytes)
  }
}

/// Why a head is refused.
enum HeadFault: Error, Equatable {
  case malformed
  case tooLarge
}
