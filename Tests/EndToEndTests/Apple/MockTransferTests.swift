import Crypto
import Domain
import Foundation
import MockApple
import TestProcesses
import Testing
import Wire

/// The stand-in's migration endpoint: as strict as Apple's, and with an answer of its own for each person and recipient.
@Suite(.timeLimit(.minutes(10)))
struct MockTransferTests {
  private func withApple(_ body: (MockAppleProgram) async throws -> Void) async throws {
    let apple = try await MockAppleProgram.start()
    try await body(apple)
    try await apple.kill()
  }

  /// How one of the stand-in's teams proves itself.
  private func proof(isOther: Bool = false, client: String = Client.app) throws -> String {
    var forge = SecretForge()
    if isOther {
      forge.header = #"{"alg":"ES256","kid":"MOCKKEY002"}"#
      forge.claims["iss"] = #""MOCKTEAM02""#
      forge.key = try PrivateKey(pem: Secret(Array(MockTeam.otherPEM.utf8)))
    }
    return "client_id=\(client)&client_secret=\(try forge.text(client: client))"
  }

  private func token(_ apple: MockAppleProgram, isOther: Bool = false, client: String = Client.app)
    async throws
    -> String
  {
    let proof = try proof(isOther: isOther, client: client)
    let answer = try await exchange(
      .post("/auth/token", form: "\(proof)&grant_type=client_credentials&scope=user.migration"),
      port: apple.port)
    try #require(answer.status == 200, "\(answer)")
    let json = try answer.json
    #expect(Set(json.names) == ["access_token", "token_type", "expires_in"])
    return try #require(json.text("access_token"))
  }

  private func info(
    _ apple: MockAppleProgram, _ fields: String, bearer: String?, isOther: Bool = false
  ) async throws -> HTTPAnswer {
    var request = HTTPRequest.post(
      "/auth/usermigrationinfo", form: "\(try proof(isOther: isOther))&\(fields)")
    if let bearer { request.headers.append((name: "Authorization", value: "Bearer \(bearer)")) }
    return try await exchange(request, port: apple.port)
  }

  @Test func `a person has one transfer subject for each recipient, and another subject in each team`()
    async throws
  {
    try await withApple { apple in
      let sender = try await token(apple)
      let fields = "sub=001.alice&target=\(MockTeam.otherID)"
      let first = try await info(apple, fields, bearer: sender).json.text("transfer_sub")
      #expect(try await info(apple, fields, bearer: sender).json.text("transfer_sub") == first)
      let elsewhere = try await info(apple, "sub=001.alice&target=ANOTHER003", bearer: sender)
      #expect(try elsewhere.json.text("transfer_sub") != first)
      let recipient = try await token(apple, isOther: true)
      let arrived = try await info(
        apple, "transfer_sub=\(try #require(first))", bearer: recipient, isOther: true)
      let transfer = MockTransfer(person: "001.alice", team: MockTeam.otherID)
      #expect(try arrived.json.text("sub") == transfer.subject)
      #expect(transfer.subject != "001.alice")
      #expect(try arrived.json.text("email") == transfer.relayAddress)
      let calls = try await apple.calls()
      #expect(calls.people("exported") == 1)
      #expect(calls.people("imported") == 1)
      #expect(calls.count("migration") == 2)
    }
  }

  @Test func `what is not proved, or not for this team, is refused in Apple's words`() async throws {
    try await withApple { apple in
      let sender = try await token(apple)
      let out = "sub=001.alice&target=\(MockTeam.otherID)"
      let missing = try await info(apple, out, bearer: nil)
      #expect(missing.status == 401)
      #expect(try missing.json.text("error") == "invalid_token")
      // An access token is the team's and the client's that got it.
      #expect(try await info(apple, out, bearer: sender, isOther: true).status == 401)
      let otherClient = try await token(apple, client: Client.second)
      #expect(try await info(apple, out, bearer: otherClient).status == 401)
      for fields in [
        "sub=001.alice", "target=\(MockTeam.otherID)", "sub=001.alice&target=short", "transfer_sub=made.up",
        "sub=&target=\(MockTeam.otherID)",
      ] {
        let answer = try await info(apple, fields, bearer: sender)
        #expect(answer.status == 400, "\(fields)")
        #expect(try answer.json.text("error") == "invalid_request", "\(fields)")
      }
      // Nobody but the recipient is told who it is.
      let way = MockTransfer(person: "001.alice", team: MockTeam.otherID).transferSubject
      #expect(try await info(apple, "transfer_sub=\(way)", bearer: sender).status == 400)
      let noScope = try await exchange(
        .post("/auth/token", form: "\(try proof())&grant_type=client_credentials"), port: apple.port)
      #expect(try noScope.json.text("error") == "invalid_scope")
    }
  }

  @Test func `a refresh token is good for the team that got it and for no other`() async throws {
    try await withApple { apple in
      let tokens = try await Mint.tokens(of: Mint.code("001.alice"), at: apple)
      let refresh = "&grant_type=refresh_token&refresh_token=\(try #require(tokens.text("refresh_token")))"
      let other = try await exchange(
        .post("/auth/token", form: try proof(isOther: true) + refresh), port: apple.port)
      #expect(try other.json.text("error") == "invalid_grant")
      let own = try await exchange(.post("/auth/token", form: try proof() + refresh), port: apple.port)
      #expect(own.status == 200, "\(own)")
    }
  }
}
