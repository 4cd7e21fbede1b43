package import Crypto
package import Domain
package import ProviderTokens
internal import Wire

/// A notification that was taken apart and looks like one of Apple's for us (Apple, "Processing changes for Sign in with
/// Apple accounts"). Its signature has not been checked: nothing in it may be believed yet.
package struct UnverifiedNotification: Sendable {
  private let token: ProviderToken
  private let claims: NotificationClaims

  /// Which key is said to have signed it.
  package var keyID: KeyID { token.keyID }

  /// - Parameter text: The `payload` of a notification: a compact JWS, which is to be as an identity token is but for its
  ///   claims.
  package init(parsing text: String, rules: IdentityTokenRules) throws(IdentityTokenRefusal) {
    token = try ProviderToken(parsing: text, atMost: Limits.bodyBytes)
    claims = try NotificationClaims(token.claims(), rules: rules)
  }

  /// Checks signature and times.
  package func verified(
    by key: PublicKey, rules: IdentityTokenRules, now: UnixTime
  ) throws(IdentityTokenRefusal) -> VerifiedNotification {
    try token.verify(by: key)
    if let end = claims.expiresAt, now >= end + rules.leeway { throw .tokenExpired }
    guard claims.issuedAt <= now + rules.leeway else { throw .tokenFromTheFuture }
    guard now.since(claims.issuedAt) <= Limits.notificationSeconds else { throw .tokenTooOld }
    return VerifiedNotification(
      digest: sha256(fields: [Array(claims.issuer.utf8), Array(claims.id.utf8)]), issuedAt: claims.issuedAt,
      events: claims.events)
  }
}

/// A notification that Apple signed, for one of our clients, within its time.
package struct VerifiedNotification: Sendable, Equatable {
  /// Of issuer and `jti`: the same for what is sent twice.
  package let digest: [UInt8]
  package let issuedAt: UnixTime
  package let events: [AppleEvent]

  /// From when on nobody takes it any more, by whatever clock.
  package func endOfUse(leeway: Int64) -> UnixTime { issuedAt + (Limits.notificationSeconds + leeway) }
}

private struct NotificationClaims: Sendable {
  let issuer: String
  let id: String
  let issuedAt: UnixTime
  /// Real ones have it, documented ones do not.
  let expiresAt: UnixTime?
  let events: [AppleEvent]

  init(_ object: JSONObject, rules: IdentityTokenRules) throws(IdentityTokenRefusal) {
    guard let issuer = try object.textClaim("iss"), rules.allowsIssuer(issuer) else {
      throw .issuerNotAllowed
    }
    self.issuer = issuer
    _ = try allowedAudience(object, rules: rules)
    issuedAt = try object.timeClaim("iat")
    if let value = object["exp"], !value.isNull {
      let end = try object.timeClaim("exp")
      guard issuedAt < end else { throw .claimInvalid }
      expiresAt = end
    } else {
      expiresAt = nil
    }
    guard let id = try object.textClaim("jti") else { throw .claimInvalid }
    self.id = id
    let objects = try eventObjects(object["events"])
    guard (1...Limits.notificationEvents).contains(objects.count) else { throw .claimInvalid }
    var events: [AppleEvent] = []
    for event in objects { events.append(try AppleEvent(event, issuedAt: issuedAt)) }
    self.events = events
  }
}

/// `events` is one object, an array of such, or a string that holds one of these as JSON: documents and real
/// notifications differ.
///
/// - Parameter isText: Whether it was found in a string, in which there is no other.
private func eventObjects(
  _ value: JSONValue?, isText: Bool = false
) throws(IdentityTokenRefusal) -> [JSONObject] {
  switch value {
  case .object(let object): return [object]
  case .array(let values):
    return try values.map { (value) throws(IdentityTokenRefusal) in
      guard case .object(let object) = value else { throw .claimInvalid }
      return object
    }
  case .text(let json) where !isText:
    let wrapped = Array("{\"events\":".utf8) + Array(json.utf8) + Array("}".utf8)
    guard let object = try? JSONObject(parsing: wrapped), object.names == ["events"] else {
      throw .claimInvalid
    }
    return try eventObjects(object["events"], isText: true)
  default: throw .claimInvalid
  }
}

extension AppleEvent {
  fileprivate init(_ object: JSONObject, issuedAt: UnixTime) throws(IdentityTokenRefusal) {
    guard let type = try object.textClaim("type") else { throw .claimInvalid }
    guard let change = AppleChange(word: type) else {
      let word = shownWord(type)
      self = .unknown(type: word, outline: outline(of: object, type: word))
      return
    }
    guard let subject = try object.textClaim("sub").flatMap(Subject.init) else { throw .claimInvalid }
    // Nothing that is told of happens later than it is told: a time from the future would be the newest for ever.
    self = .change(
      change, of: subject, at: min(try eventTime(object) ?? issuedAt, issuedAt),
      email: change.isOfAddress ? try object.textClaim("email") : nil)
  }
}

/// What an operator learns of an event that nobody here understands: what it is called, when it happened, and of what it
/// speaks, without a word of what it says.
private func outline(of object: JSONObject, type: String) -> String {
  var out = JSONWriter(reserving: 256)
  out.member("type", type)
  if let moment = try? eventTime(object) { out.member("eventTime", moment.seconds) }
  out.member("members", object.names.prefix(Limits.eventNames).map(shownWord))
  return String(decoding: out.finish(), as: UTF8.self)
}

/// A word of Apple's that can be shown anywhere. What is none may be anything, an address too.
private func shownWord(_ text: String) -> String {
  let isWord = text.utf8.allSatisfy { byte in
    (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
      || "-_.".utf8.contains(byte)
  }
  return isWord && (1...Limits.eventTypeBytes).contains(text.utf8.count) ? text : "unreadable"
}

/// `event_time` is in milliseconds, though Apple's document shows seconds: no event is from after the year 5138.
private func eventTime(_ object: JSONObject) throws(IdentityTokenRefusal) -> UnixTime? {
  do {
    guard let number = try object.optionalInteger("event_time") else { return nil }
    guard number > 0 else { throw IdentityTokenRefusal.claimInvalid }
    return UnixTime(number > 100_000_000_000 ? number / 1000 : number)
  } catch {
    throw .claimInvalid
  }
}

extension JSONValue {
  fileprivate var isNull: Bool { if case .null = self { true } else { false } }
}
