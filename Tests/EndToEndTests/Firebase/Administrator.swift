import Foundation
import Testing
import Wire

/// Somebody who calls a service as Firebase's Admin SDKs do.
struct Administrator: Sendable {
  /// The bearer of every test's administrator.
  static let token = "token-of-the-only-administrator"
  static let settings = ["BRAMLEY_ADMIN_TOKEN": token]

  let service: Service
  var bearer: String? = token
  var project = "bramley"

  /// Calls an operation of the project: `accounts:lookup`.
  func post(_ operation: String, _ body: String) async throws -> HTTPAnswer {
    try await service.send(.post(path(of: operation), json: body, headers: headers))
  }

  /// Reads something of the project: `accounts:batchGet?maxResults=2`.
  func get(_ operation: String) async throws -> HTTPAnswer {
    try await service.get(path(of: operation), headers: headers)
  }

  private var headers: [(name: String, value: String)] {
    bearer.map { [("Authorization", "Bearer \($0)")] } ?? []
  }

  private func path(of operation: String) -> String {
    let separator = operation.hasPrefix(":") ? "" : "/"
    return "/identitytoolkit.googleapis.com/v1/projects/\(project)\(separator)\(operation)"
  }

  /// Makes an account.
  ///
  /// - Returns: Its id.
  @discardableResult
  func create(_ body: String, at location: SourceLocation = #_sourceLocation) async throws -> String {
    let answer = try await post("accounts", body)
    try #require(answer.status == 200, "\(answer)", sourceLocation: location)
    return try #require(try answer.json.text("localId"), sourceLocation: location)
  }

  /// Changes an account.
  ///
  /// - Parameter members: JSON members beside the id.
  @discardableResult
  func update(
    _ id: String, _ members: String, at location: SourceLocation = #_sourceLocation
  ) async throws -> JSONObject {
    let answer = try await post("accounts:update", #"{"localId":"\#(id)",\#(members)}"#)
    try #require(answer.status == 200, "\(answer)", sourceLocation: location)
    #expect(try answer.json.text("localId") == id, sourceLocation: location)
    return try answer.json
  }

  /// An account; nil when there is none of this id.
  func account(_ id: String) async throws -> JSONObject? {
    try await lookup(#"{"localId":["\#(id)"]}"#).first
  }

  /// The accounts that a lookup finds.
  func lookup(_ body: String, at location: SourceLocation = #_sourceLocation) async throws -> [JSONObject] {
    let answer = try await post("accounts:lookup", body)
    try #require(answer.status == 200, "\(answer)", sourceLocation: location)
    return try answer.json.objects("users")
  }

  /// Deletes an account.
  func delete(_ id: String, at location: SourceLocation = #_sourceLocation) async throws {
    let answer = try await post("accounts:delete", #"{"localId":"\#(id)"}"#)
    try #require(answer.status == 200, "\(answer)", sourceLocation: location)
  }
}

/// Gives a test a service that has an administrator.
func withAdministrator(
  _ changes: [String: String] = [:], _ body: (Service, Administrator) async throws -> Void
) async throws {
  try await withService(Administrator.settings.merging(changes) { $1 }) { service in
    try await body(service, Administrator(service: service))
  }
}

extension JSONObject {
  /// The ids of the accounts of an answer.
  var localIDs: [String] { objects("users").compactMap { $0.text("localId") } }
}

/// Members of an answer that hold 64-bit numbers are text that JavaScript, Go and iOS can read.
func expectDigits(_ value: JSONValue?, at location: SourceLocation = #_sourceLocation) {
  guard case .text(let text) = value else {
    Issue.record("no text", sourceLocation: location)
    return
  }
  #expect(!text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }, sourceLocation: location)
}
