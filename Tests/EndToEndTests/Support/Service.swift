import Foundation
import TestProcesses
import Testing
import Wire

/// A running `bramley serve`.
struct Service: Sendable {
  let process: ChildProcess
  let port: UInt16

  var baseURL: String { "http://127.0.0.1:\(port)" }

  /// Sends one request over a connection of its own.
  func send(_ request: HTTPRequest) async throws -> HTTPAnswer {
    try await exchange(request, port: port)
  }

  func get(_ path: String, headers: [(name: String, value: String)] = []) async throws -> HTTPAnswer {
    try await send(HTTPRequest(path: path, headers: headers))
  }

  /// Signs in; what came back may be a refusal.
  ///
  /// - Parameters:
  ///   - members: Further members of the body; their values are JSON.
  ///   - bearer: A session token to whose account the identity is to be linked.
  func trySignIn(
    _ credential: Credential, _ members: [String: String] = [:], bearer: String? = nil
  ) async throws -> HTTPAnswer {
    try await send(.signIn(credential.body(members), bearer: bearer))
  }

  /// Signs in.
  func signIn(
    _ credential: Credential, _ members: [String: String] = [:], bearer: String? = nil,
    at location: SourceLocation = #_sourceLocation
  ) async throws -> SignedIn {
    try SignedIn(await trySignIn(credential, members, bearer: bearer), at: location)
  }

  /// Signs people in, one after the other.
  func signIn(people count: Int) async throws -> [SignedIn] {
    var sessions: [SignedIn] = []
    for _ in 0..<count { sessions.append(try await signIn(Mint.credential())) }
    return sessions
  }

  /// Refreshes; what came back may be a refusal.
  func tryRefresh(_ token: String) async throws -> HTTPAnswer {
    try await send(.refresh(token))
  }

  /// Refreshes.
  ///
  /// - Returns: The next refresh token.
  func refresh(_ token: String, at location: SourceLocation = #_sourceLocation) async throws -> String {
    let answer = try await tryRefresh(token)
    try #require(answer.status == 200, "\(answer)", sourceLocation: location)
    return try #require(try answer.json.text("refresh_token"), sourceLocation: location)
  }

  /// Stops it as a supervisor does.
  func stop() async throws {
    process.send(signal: SIGTERM)
    let end = try await process.ended()
    #expect(end == .exit(0))
  }

  /// Ends it as a power cut does.
  func kill() async throws {
    process.send(signal: SIGKILL)
    try await process.ended()
  }
}

extension HTTPRequest {
  static func signIn(_ body: String, bearer: String? = nil) -> HTTPRequest {
    .post("/v1/signInWithIdp", json: body, headers: bearer.map { [("Authorization", "Bearer \($0)")] } ?? [])
  }

  static func refresh(_ token: String) -> HTTPRequest {
    .post("/v1/token", form: "grant_type=refresh_token&refresh_token=\(token)")
  }
}

/// What an app keeps of a sign-in's answer.
struct SignedIn: Sendable, Equatable {
  let idToken: String
  let refreshToken: String
  let localID: String
  let sessionID: String
  let isNewUser: Bool

  init(_ answer: HTTPAnswer, at location: SourceLocation = #_sourceLocation) throws {
    try #require(answer.status == 200, "\(answer)", sourceLocation: location)
    let json = try answer.json
    idToken = try #require(json.text("idToken"), sourceLocation: location)
    refreshToken = try #require(json.text("refreshToken"), sourceLocation: location)
    localID = try #require(json.text("localId"), sourceLocation: location)
    sessionID = try #require(json.text("sessionId"), sourceLocation: location)
    isNewUser = try #require(json.flag("isNewUser") as Bool?, sourceLocation: location)
  }
}
