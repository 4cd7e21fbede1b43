internal import Crypto
internal import Domain
package import Wire

/// A notification that somebody wants, right or wrong in any way.
///
/// Without further words it is what Apple sends of a native app: milliseconds, and the event as JSON in a string.
package struct NotificationOrder: Sendable {
  /// In which of the forms that Apple has used `events` is written.
  package enum Shape: String, Sendable, CaseIterable { case string, object, array }

  /// How `event_time` is written.
  package enum Unit: String, Sendable, CaseIterable { case milliseconds, seconds }

  /// `type` of the event, in any spelling.
  package var type = "consent-revoked"
  package var subject = TokenOrder().subject
  /// Of e-mail events.
  package var email: String?
  /// Seconds; nil: now.
  package var eventTime: Int64?
  package var shape = Shape.string
  package var unit = Unit.milliseconds
  /// Nil: one that no other notification has.
  package var id: String?
  /// The token around it: audience, time, further claims, header, key, and whether its signature is broken. What it says
  /// of the person is not in a notification.
  package var token = TokenOrder()
  /// Whether the signature is left out, and the header says that there is none.
  package var isUnsigned = false

  package init() {}

  /// Reads an order from the body of a notify request: the words of a mint request, and these.
  package init(_ object: JSONObject) throws(JSONTypeError) {
    token = try TokenOrder(object)
    subject = token.subject
    if let type = try object.optionalText("type") { self.type = type }
    email = try object.optionalText("email")
    eventTime = try object.optionalInteger("eventTime")
    if let word = try object.optionalText("shape") { shape = try Self.known(word, "shape") }
    if let word = try object.optionalText("unit") { unit = try Self.known(word, "unit") }
    id = try object.optionalText("jti")
    isUnsigned = try object.optionalFlag("unsigned") ?? false
  }

  private static func known<Word: RawRepresentable<String>>(
    _ text: String, _ member: String
  ) throws(JSONTypeError) -> Word {
    guard let word = Word(rawValue: text) else { throw JSONTypeError(member: member) }
    return word
  }

  /// The order of the token that carries it.
  ///
  /// - Parameter id: The `jti`, unless the order names one.
  func tokenOrder(id fresh: String, now: UnixTime) -> TokenOrder {
    let issuedAt = token.issuedAt ?? now.seconds
    var out = JSONWriter(reserving: 256)
    out.member("type", type)
    out.member("sub", subject)
    let time = eventTime ?? issuedAt
    out.member("event_time", unit == .milliseconds ? time * 1000 : time)
    if let email {
      out.member("email", email)
      out.member("is_private_email", "true")
    }
    let event = out.finish()
    let events: [UInt8] =
      switch shape {
      case .string: JSONValue.text(String(decoding: event, as: UTF8.self)).encoded
      case .object: event
      case .array: Array("[".utf8) + event + Array("]".utf8)
      }
    var order = token
    if order.payload == nil { order.payload = payload(events, id: id ?? fresh, issuedAt: issuedAt) }
    return order
  }

  /// The claims, with what the order puts in their place.
  private func payload(_ events: [UInt8], id: String, issuedAt: Int64) -> String {
    var members: [(name: String, json: [UInt8])] = [
      ("iss", JSONValue.text("https://appleid.apple.com").encoded),
      ("exp", JSONValue.integer(issuedAt + token.lifetime).encoded),
      ("iat", JSONValue.integer(issuedAt).encoded), ("jti", JSONValue.text(id).encoded), ("events", events),
    ]
    if let audience = token.audience { members.append(("aud", JSONValue.text(audience).encoded)) }
    for (name, value) in token.claims {
      members.removeAll { $0.name == name }
      if case .null = value { continue }
      members.append((name, value.encoded))
    }
    var out = JSONWriter(reserving: 1024)
    for (name, json) in members { out.member(name, json: json) }
    return String(decoding: out.finish(), as: UTF8.self)
  }
}

extension NotificationOrder {
  /// The body of the request, `{"payload":…}`.
  static func body(_ payload: String) -> [UInt8] {
    var out = JSONWriter(reserving: payload.utf8.count + 16)
    out.member("payload", payload)
    return out.finish()
  }
}
