import Domain
import Foundation
import MockApple
import TestProcesses
import Testing
import Wire

/// The client ids of every test's service, with their nonce rules.
enum Client {
  static let app = "com.example.app"
  static let second = "com.example.second"
  static let third = "com.example.third"
  static let web = "com.example.web"
  static let challenge = "com.example.challenge"
  static let webChallenge = "com.example.webchallenge"

  /// As the setting has it: with spaces, since people write them.
  static let setting =
    "\(app), \(second),\(third) ,\(web):nonce=raw,\(challenge):nonce=challenge,\(webChallenge):nonce=raw+challenge"
}

/// What an app holds after Apple's sheet closed.
struct Credential: Sendable {
  let idToken: String
  let rawNonce: String

  /// The body of a sign-in.
  ///
  /// - Parameter members: Further members; their values are JSON.
  func body(_ members: [String: String] = [:]) -> String {
    var out = JSONWriter()
    out.member("idToken", idToken)
    out.member("rawNonce", rawNonce)
    for (name, value) in members.sorted(by: { $0.key < $1.key }) { out.member(name, json: Array(value.utf8)) }
    return String(decoding: out.finish(), as: UTF8.self)
  }
}

/// Mints in this process, with the very keys that the program publishes.
enum Mint {
  static let apple: MockApple? = try? MockApple(clock: WallClock { UnixTime(Int64(time(nil))) })
  private static let count = Watched(0)

  /// A number that no other call of this run gets.
  static func number() -> Int {
    count.update {
      $0 += 1
      return $0
    }
  }

  /// A raw nonce that was not used before.
  static func nonce() -> String { "raw nonce no. \(number()) with some length to it" }

  /// A subject that has not signed in before.
  static func subject() -> String { "001234.feed\(number()).0456" }

  /// A token by order.
  static func token(_ change: (inout TokenOrder) -> Void) throws -> String {
    var order = TokenOrder()
    order.audience = Client.app
    order.subject = subject()
    change(&order)
    let apple = try #require(apple)
    return try #require(try apple.mint(order))
  }

  /// A credential, and the authorization code that comes with it.
  ///
  /// - Parameters:
  ///   - redirectURI: Of a code of the web.
  ///   - change: Of the order, before the code is made for it.
  static func credentialWithCode(
    redirectURI: String? = nil, _ change: (inout TokenOrder) -> Void = { _ in }
  ) throws -> (credential: Credential, code: String) {
    let apple = try #require(apple)
    var code = ""
    let credential = try credential { order in
      change(&order)
      code = apple.code(for: order, redirectURI: redirectURI)
      order.code = code
    }
    return (credential, code)
  }

  /// A code for a person and a client, without a token.
  static func code(_ subject: String, client: String = Client.app, redirectURI: String? = nil) throws
    -> String
  {
    var order = TokenOrder()
    order.subject = subject
    order.audience = client
    return try #require(apple).code(for: order, redirectURI: redirectURI)
  }

  /// A credential whose token has the right nonce, unless the change makes it another.
  static func credential(_ change: (inout TokenOrder) -> Void = { _ in }) throws -> Credential {
    let nonce = nonce()
    let token = try token { order in
      order.rawNonce = nonce
      change(&order)
    }
    return Credential(idToken: token, rawNonce: nonce)
  }
}

/// A claim or header member by name: a text; nil takes it out.
func member(_ name: String, _ text: String?) -> (name: String, value: JSONValue) {
  (name, text.map { .text($0) } ?? .null)
}
