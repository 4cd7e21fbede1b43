import Foundation
import Testing
import Wire

/// Where Firebase's SDKs post, with Google's host as first segment, as they do to an emulator.
enum FirebasePath {
  static let toolkit = "/identitytoolkit.googleapis.com"
  static let old = "/www.googleapis.com/identitytoolkit/v3/relyingparty"
  static let signIn = toolkit + "/v1/accounts:signInWithIdp?key=AIza"
  static let verifyAssertion = old + "/verifyAssertion?key=AIza"
  static let token = "/securetoken.googleapis.com/v1/token?key=AIza"
  static func account(_ verb: String) -> String { "\(toolkit)/v1/accounts:\(verb)?key=AIza" }
}

/// Who writes a `postBody`.
enum FirebaseClient: String, CaseIterable, Sendable {
  case ios, javaScript, android

  /// The path that its SDK signs in at.
  var path: String { self == .javaScript ? FirebasePath.signIn : FirebasePath.verifyAssertion }

  /// `postBody` as its SDK writes it.
  ///
  /// - Parameter user: JSON that iOS puts at the end.
  func postBody(_ credential: Credential, nonce: Bool = true, user: String? = nil) -> String {
    switch self {
    case .ios:
      // The SDK reads the decoded query of a URL component back, so nothing is escaped in the end.
      var components = URLComponents()
      components.queryItems =
        [
          URLQueryItem(name: "providerId", value: "apple.com"),
          URLQueryItem(name: "id_token", value: credential.idToken),
        ]
        + (nonce ? [URLQueryItem(name: "nonce", value: credential.rawNonce)] : [])
        + (user.map { [URLQueryItem(name: "user", value: $0)] } ?? [])
      return components.query ?? ""
    case .javaScript:
      let nonceField = nonce ? "&nonce=\(percentEncoded(credential.rawNonce))" : ""
      return "&id_token=\(credential.idToken)&providerId=apple.com\(nonceField)"
    case .android:
      let nonceField = nonce ? "&nonce=\(credential.rawNonce)" : ""
      return "id_token=\(credential.idToken)\(nonceField)&providerId=apple.com"
    }
  }
}

/// A JSON object of members whose values are JSON already.
func json(_ members: [(String, String)]) -> String {
  var out = JSONWriter()
  for (name, value) in members { out.member(name, json: Array(value.utf8)) }
  return String(decoding: out.finish(), as: UTF8.self)
}

/// A text as JSON.
func quoted(_ text: String) -> String { String(decoding: JSONValue.text(text).encoded, as: UTF8.self) }

extension HTTPRequest {
  /// A sign-in as a Firebase SDK sends it.
  static func firebaseSignIn(
    _ postBody: String?, as client: FirebaseClient = .javaScript, _ members: [(String, String)] = []
  ) -> HTTPRequest {
    var body = [("requestUri", "\"http://localhost\""), ("returnSecureToken", "true")]
    if let postBody { body.append(("postBody", quoted(postBody))) }
    return .post(client.path, json: json(body + members))
  }
}

extension Service {
  /// A sign-in as a Firebase SDK sends it.
  ///
  /// - Parameter members: Further members; their values are JSON.
  func firebaseSignIn(
    _ postBody: String?, as client: FirebaseClient = .javaScript, _ members: [(String, String)] = []
  ) async throws -> HTTPAnswer {
    try await send(.firebaseSignIn(postBody, as: client, members))
  }

  /// Posts a JSON body.
  func post(_ path: String, _ members: [(String, String)], bearer: String? = nil) async throws -> HTTPAnswer {
    try await send(
      .post(path, json: json(members), headers: bearer.map { [("Authorization", "Bearer \($0)")] } ?? []))
  }

  /// The account of a session as `accounts:lookup` shows it.
  func lookup(_ idToken: String) async throws -> JSONObject {
    let answer = try await post(FirebasePath.account("lookup"), [("idToken", quoted(idToken))])
    try #require(answer.status == 200, "\(answer)")
    return try #require(try answer.json.objects("users").first)
  }
}
