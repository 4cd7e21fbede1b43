import AppleIdentity
import Crypto
import Domain
import ProviderTokens
import TestSupport
import Testing

private let person = Subject(unchecked: AppleClaims.subject)

/// One event as JSON.
private func event(
  _ type: String = "consent-revoked", sub: String? = jsonText(AppleClaims.subject),
  time: String? = "\(now.seconds)000", _ more: String = ""
) -> String {
  let members = [
    "\"type\":\(jsonText(type))", sub.map { "\"sub\":\($0)" }, time.map { "\"event_time\":\($0)" },
    more.isEmpty ? nil : more,
  ]
  return "{\(members.compactMap { $0 }.joined(separator: ","))}"
}

/// Claims of a notification as Apple writes them, with these events as JSON.
private func claims(_ events: String?, issuedAt: UnixTime = now) -> AppleClaims {
  var claims = AppleClaims(issuedAt: issuedAt).setting("jti", text: "a1b2").setting("events", events)
  for name in ["sub", "nonce", "c_hash", "email", "email_verified", "is_private_email", "auth_time"] {
    claims = claims.setting(name, nil)
  }
  return claims
}

private func take(
  _ claims: AppleClaims, at time: UnixTime = now, by key: PublicKey = TokenForge.apple.key.publicKey
) throws(IdentityTokenRefusal) -> VerifiedNotification {
  let rules = rules()
  return try UnverifiedNotification(parsing: TokenForge.apple.token(claims), rules: rules)
    .verified(by: key, rules: rules, now: time)
}

@Suite struct NotificationTests {
  @Test(arguments: ["string", "object", "array", "array in a string"])
  func `events are a string, an object or an array`(_ shape: String) throws {
    let text =
      switch shape {
      case "string": jsonText(event())
      case "object": event()
      case "array": "[\(event()),\(event("email-disabled"))]"
      default: jsonText("[\(event())]")
      }
    let events = try take(claims(text)).events
    #expect(events.first == .change(.consentRevoked, of: person, at: now))
    #expect(events.count == (shape == "array" ? 2 : 1))
  }

  @Test(arguments: [
    ("consent-revoked", AppleChange.consentRevoked), ("account-delete", .accountDeleted),
    ("account-deleted", .accountDeleted), ("email-disabled", .emailDisabled),
    ("email-enabled", .emailEnabled),
  ])
  func `V04 every type is known, in either spelling`(_ word: String, _ change: AppleChange) throws {
    #expect(try take(claims(event(word))).events == [.change(change, of: person, at: now)])
  }

  @Test(
    arguments: [
      ("1750000000", 1_750_000_000), ("1750000000000", 1_750_000_000), ("1749999999999", 1_749_999_999),
      ("1750000000.0", 1_750_000_000), ("100000000001", 100_000_000), ("1508184845", 1_508_184_845),
    ] as [(String, Int64)])
  func `V05 a time is in milliseconds or in seconds`(_ text: String, _ seconds: Int64) throws {
    #expect(
      try take(claims(event(time: text))).events == [
        .change(.consentRevoked, of: person, at: UnixTime(seconds))
      ])
  }

  @Test func `nothing happens later than it is told`() throws {
    for time in ["\(now.seconds + 1)", "100000000000", "99999999999999999", nil] {
      let events = try take(claims(event(time: time))).events
      #expect(events == [.change(.consentRevoked, of: person, at: now)])
    }
  }

  @Test(arguments: ["0", "-5", "\"1750000000\"", "true", "1750000000.5", "[]"])
  func `a time that is none is refused`(_ text: String) {
    #expect(throws: IdentityTokenRefusal.claimInvalid) { try take(claims(event(time: text))) }
  }

  @Test func `V10 of an event of a type that is not known the outline is kept, and nothing that it says`()
    throws
  {
    func outline(_ text: String) throws -> String? {
      guard case .unknown(_, let outline) = try take(claims(text)).events[0] else { return nil }
      return outline
    }
    let text = event("something-new", "\"email\":\"ada@example.com\",\"x\":[1,{\"ada\":null}]")
    #expect(
      try outline(text)
        == #"{"type":"something-new","eventTime":\#(now.seconds),"members":["type","sub","event_time","email","x"]}"#
    )
    #expect(
      try outline(event("new", sub: nil, time: "\"ada\"", "\"ada@example.com\":1"))
        == #"{"type":"new","members":["type","event_time","unreadable"]}"#)
    let many = (1...500).map { "\"\(String(repeating: "x", count: 60))\($0)\":1" }.joined(separator: ",")
    let bounded = try outline(event("new", many))
    #expect((bounded?.utf8.count ?? 0) < 3000)
    for type in ["two words", "ada@example.com", "naïve", "a\u{7}b", String(repeating: "x", count: 65)] {
      guard case .unknown(let word, _) = try take(claims(event(type))).events[0] else {
        Issue.record("it is known")
        return
      }
      #expect(word == "unreadable")
    }
  }

  @Test func `an event about an address names it, and only such a one`() throws {
    func email(_ type: String, _ more: String) throws -> String? {
      guard case .change(_, _, _, let email) = try take(claims(event(type, more))).events[0] else {
        return "?"
      }
      return email
    }
    #expect(try email("email-disabled", "\"email\":\"x@example.com\"") == "x@example.com")
    for more in ["", "\"email\":\"\"", "\"email\":null"] { #expect(try email("email-enabled", more) == nil) }
    #expect(try email("consent-revoked", "\"email\":5") == nil)
    let odd = claims(event("email-disabled", "\"email\":5"))
    #expect(throws: IdentityTokenRefusal.claimInvalid) { try take(odd) }
  }

  @Test(
    arguments: [
      nil, "null", "\"\"", "\"no json\"", "[]", "5", "[\"x\"]", "{}", "{\"type\":5}", "{\"type\":\"\"}",
      jsonText(jsonText(event())), jsonText("{},\"more\":{}"), jsonText("[]"), event(sub: nil),
      event(sub: "5"), event(sub: "\"\""), event(sub: "\"naïve\""), "[\(event()),5]",
    ] as [String?])
  func `events of another form are refused`(_ text: String?) {
    #expect(throws: IdentityTokenRefusal.claimInvalid) { try take(claims(text)) }
  }

  @Test func `no more events are taken than a bound`() throws {
    func many(_ count: Int) -> String {
      "[" + Array(repeating: event(), count: count).joined(separator: ",") + "]"
    }
    #expect(try take(claims(many(100))).events.count == 100)
    #expect(throws: IdentityTokenRefusal.claimInvalid) { try take(claims(many(101))) }
  }

  @Test(
    arguments: [
      ("iss", "\"https://appleid.apple.com/\"", .issuerNotAllowed), ("iss", nil, .issuerNotAllowed),
      ("aud", "\"com.example.stranger\"", .audienceNotAllowed), ("aud", nil, .audienceNotAllowed),
      ("jti", nil, .claimInvalid), ("jti", "\"\"", .claimInvalid), ("jti", "5", .claimInvalid),
      ("iat", nil, .claimInvalid), ("exp", "5", .claimInvalid), ("exp", "\"x\"", .claimInvalid),
    ] as [(String, String?, IdentityTokenRefusal)])
  func `a claim that is not Apple's is refused`(
    _ name: String, _ json: String?, _ refusal: IdentityTokenRefusal
  ) {
    #expect(throws: refusal) { try take(claims(event()).setting(name, json)) }
  }

  @Test func `an end is enforced where there is one`() throws {
    let day = claims(event())
    #expect(try take(day, at: now + 86_459).events.count == 1)
    #expect(throws: IdentityTokenRefusal.tokenExpired) { try take(day, at: now + 86_460) }
    for absent in [nil, "null"] {
      let open = claims(event()).setting("exp", absent)
      #expect(try take(open, at: now + Limits.notificationSeconds).events.count == 1)
      #expect(throws: IdentityTokenRefusal.tokenTooOld) {
        try take(open, at: now + (Limits.notificationSeconds + 1))
      }
    }
    #expect(throws: IdentityTokenRefusal.tokenFromTheFuture) { try take(day, at: now - 61) }
    #expect(try take(day, at: now - 60).events.count == 1)
  }

  @Test func `V08 what Apple did not sign is refused`() throws {
    #expect(throws: IdentityTokenRefusal.signatureInvalid) {
      try take(claims(event()), by: TokenForge.stranger.key.publicKey)
    }
    let unsigned = TokenForge.apple.token(
      header: #"{"alg":"none","kid":"FORGEKEY01"}"#, claims: claims(event()).json)
    #expect(throws: IdentityTokenRefusal.algorithmNotAllowed) {
      try UnverifiedNotification(parsing: unsigned, rules: rules())
    }
    #expect(throws: IdentityTokenRefusal.tokenMalformed) {
      try UnverifiedNotification(parsing: claims(event()).json, rules: rules())
    }
    #expect(throws: IdentityTokenRefusal.tokenTooLarge) {
      try UnverifiedNotification(parsing: String(repeating: "x", count: Limits.bodyBytes + 1), rules: rules())
    }
  }

  @Test func `the digest is that of issuer and jti, and of nothing else`() throws {
    let first = try take(claims(event()))
    #expect(try take(claims(event("email-enabled"), issuedAt: now + 1)).digest == first.digest)
    #expect(try take(claims(event()).setting("jti", text: "A1b2")).digest != first.digest)
    #expect(first.digest.count == 32)
    #expect(first.endOfUse(leeway: 60) == now + (Limits.notificationSeconds + 60))
  }
}
