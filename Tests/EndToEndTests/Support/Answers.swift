import Foundation
import Testing
import Wire

extension HTTPAnswer: CustomStringConvertible {
  /// Status and body, for a failed expectation.
  var description: String { "\(status) \(String(decoding: body, as: UTF8.self))" }

  /// The body, which is one object.
  var json: JSONObject {
    get throws { try JSONObject(parsing: body) }
  }

  /// The stable word of a refusal; nil where there is none.
  var reason: String? {
    guard let error = (try? json)?.object("error"), case .object(let details)? = error.array("details")?.first
    else { return nil }
    return details.text("reason")
  }
}

extension JSONObject {
  func flag(_ name: String) -> Bool? { if case .flag(let flag) = self[name] { flag } else { nil } }
  func integer(_ name: String) -> Int64? { if case .integer(let number) = self[name] { number } else { nil } }
  func object(_ name: String) -> JSONObject? {
    if case .object(let object) = self[name] { object } else { nil }
  }
  func array(_ name: String) -> [JSONValue]? {
    if case .array(let values) = self[name] { values } else { nil }
  }

  /// The objects of an array.
  func objects(_ name: String) -> [JSONObject] {
    (array(name) ?? []).compactMap { if case .object(let object) = $0 { object } else { nil } }
  }

  /// The texts of an array.
  func texts(_ name: String) -> [String] {
    (array(name) ?? []).compactMap { if case .text(let text) = $0 { text } else { nil } }
  }
}

/// A refusal as the contract's table has it.
struct Refusal: Sendable, CustomTestStringConvertible {
  let status: Int
  let code: String
  let reason: String

  init(_ status: Int, _ code: String, _ reason: String? = nil) {
    self.status = status
    self.code = code
    self.reason = reason ?? code.lowercased()
  }

  var testDescription: String { "\(status) \(reason)" }

  static func nonce(_ reason: String) -> Refusal { Refusal(400, "MISSING_OR_INVALID_NONCE", reason) }
  static func token(_ reason: String) -> Refusal { Refusal(400, "INVALID_IDP_RESPONSE", reason) }
  static func argument(_ reason: String, _ status: Int = 400) -> Refusal {
    Refusal(status, "INVALID_ARGUMENT", reason)
  }
  static func session(_ reason: String, _ status: Int = 400) -> Refusal {
    Refusal(status, "TOKEN_EXPIRED", reason)
  }
  static func outage(_ reason: String) -> Refusal { Refusal(503, "UNAVAILABLE", reason) }
}

/// Expects a refusal in the one envelope, whole.
func expect(
  _ answer: HTTPAnswer, is refusal: Refusal, field: String? = nil,
  at location: SourceLocation = #_sourceLocation
) throws {
  #expect(answer.status == refusal.status, "\(answer)", sourceLocation: location)
  let error = try #require(try answer.json.object("error"), "\(answer)", sourceLocation: location)
  #expect(error.integer("code") == Int64(refusal.status), sourceLocation: location)
  let message = error.text("message") ?? ""
  #expect(message.hasPrefix(refusal.code + " : "), "\(message)", sourceLocation: location)
  #expect(message.count > refusal.code.count + 10, "\(message)", sourceLocation: location)
  #expect(error.text("status")?.isEmpty == false, sourceLocation: location)
  let classic = try #require(error.objects("errors").first, sourceLocation: location)
  #expect(classic.text("message") == message, sourceLocation: location)
  #expect(classic.text("domain") == "global", sourceLocation: location)
  #expect(classic.text("reason")?.isEmpty == false, sourceLocation: location)
  let details = try #require(error.objects("details").first, sourceLocation: location)
  #expect(details.text("reason") == refusal.reason, "\(answer)", sourceLocation: location)
  #expect(details.text("requestId") == answer["X-Request-Id"], sourceLocation: location)
  #expect(details.text("field") == field || field == nil, "\(answer)", sourceLocation: location)
  #expect(answer["Content-Type"] == "application/json; charset=utf-8", sourceLocation: location)
  #expect(answer["Cache-Control"] == "no-store", sourceLocation: location)
  let wait = answer["Retry-After"].flatMap { Int($0) }
  #expect((wait != nil) == [429, 503].contains(refusal.status), sourceLocation: location)
  #expect((answer["WWW-Authenticate"] != nil) == (refusal.status == 401), sourceLocation: location)
}
