internal import Domain
internal import HTTPServer
internal import Wire

/// A body that was read as its media type says. One form for both, since a form has text fields only.
enum RequestFields {
  case json(JSONObject)
  case form(FormBody)

  /// Text under the first of `names` that is there; two of them at once are one field named twice.
  func text(_ names: String...) throws(Failure) -> String? {
    var found: String?
    for name in names {
      guard let value = try text(named: name) else { continue }
      guard found == nil else { throw Failure(.duplicateMember, field: name) }
      found = value
    }
    return found
  }

  private func text(named name: String) throws(Failure) -> String? {
    switch self {
    case .json(let object): try object.field(text: name)
    case .form(let form): form[name]
    }
  }
}

extension Request {
  /// The body as a JSON object; any other media type is refused, a missing one too.
  func jsonBody() throws(Failure) -> JSONObject {
    guard mediaType == "application/json" else { throw Failure(.mediaTypeNotSupported) }
    do {
      return try JSONObject(parsing: body)
    } catch {
      throw Failure(error == .duplicateMember ? .duplicateMember : .bodyMalformed)
    }
  }

  /// The body as JSON or as a form.
  func jsonOrFormBody() throws(Failure) -> RequestFields {
    guard mediaType == "application/x-www-form-urlencoded" else { return .json(try jsonBody()) }
    do {
      return .form(try FormBody(parsing: body))
    } catch {
      throw Failure(error == .duplicateMember ? .duplicateMember : .bodyMalformed)
    }
  }

  /// The fields of the query of a route of our own, which knows these and no others: who misspells what is searched
  /// for is told so, and not shown everything. The key that names the caller may stand beside them.
  func queryFields(named names: String...) throws(Failure) -> FormBody { try queryFields(named: names) }

  func queryFields(named names: [String]) throws(Failure) -> FormBody {
    let query = try queryFields()
    for name in query.names.sorted() where name != "key" {
      guard names.contains(name) else { throw Failure(.fieldUnknown, field: name) }
      guard query[name] != nil else { throw Failure(.fieldMissing, field: name) }
    }
    return query
  }

  /// The fields of the query.
  func queryFields() throws(Failure) -> FormBody {
    do {
      return try FormBody(parsing: (query ?? "").utf8)
    } catch {
      throw Failure(error == .duplicateMember ? .duplicateMember : .requestMalformed)
    }
  }

  /// The media type in lower case; nil when there is none, two, a content coding, or a charset other than UTF-8: text
  /// that is read as something else than it says is how two readers come to differ.
  private var mediaType: String? {
    guard headers.count(of: "Content-Type") == 1, let value = headers.first("Content-Type") else {
      return nil
    }
    // No coding is undone, so a coded body is not of the type that it says (RFC 9110 §8.4).
    guard headers.count(of: "Content-Encoding") == 0 else { return nil }
    let parts = value.split(separator: ";", omittingEmptySubsequences: false).map { part in
      let isBlank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 }
      let inner = part.utf8.drop(while: isBlank).reversed().drop(while: isBlank).reversed()
      return String(decoding: inner.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 }, as: UTF8.self)
    }
    for parameter in parts.dropFirst() where parameter.hasPrefix("charset") {
      guard ["charset=utf-8", "charset=\"utf-8\""].contains(parameter) else { return nil }
    }
    return parts.first
  }
}

extension JSONObject {
  /// A text field; nil when it is absent, null or empty.
  func field(text name: String, atMost bytes: Int = .max) throws(Failure) -> String? {
    let text: String?
    do {
      text = try optionalText(name)
    } catch {
      throw Failure(.fieldType, field: name)
    }
    guard (text?.utf8.count ?? 0) <= bytes else { throw Failure(.fieldTooLong, field: name) }
    return text
  }

  /// A boolean field; nil when it is absent or null.
  func field(flag name: String) throws(Failure) -> Bool? {
    do {
      return try optionalFlag(name)
    } catch {
      throw Failure(.fieldType, field: name)
    }
  }

  /// An object field; nil when it is absent or null.
  func field(object name: String) throws(Failure) -> JSONObject? {
    do {
      return try optionalObject(name)
    } catch {
      throw Failure(.fieldType, field: name)
    }
  }
}
