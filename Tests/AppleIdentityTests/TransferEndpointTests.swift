import AppleIdentity
import Domain
import TestSupport
import Testing
import Wire

private let client = ClientID(unchecked: "com.example.app")
private let noon = ManualClock()
private let recipient = TeamID(unchecked: "RECIPIENT2")

/// What is sent to Apple of people on the way to another team, and what its answers mean.
@Suite struct TransferEndpointTests {
  private func endpoints(_ fetcher: ScriptedFetcher) -> AppleEndpoints {
    AppleEndpoints(baseURL: "https://appleid.apple.com", fetcher: fetcher, clock: noon.wall)
  }

  private func answer(_ body: String, status: Int = 200) -> ScriptedFetcher.Step {
    .answer(.json(Array(body.utf8), status: status))
  }

  @Test func `the access token is asked for with the scope of the migration`() async throws {
    let fetcher = ScriptedFetcher([answer(#"{"access_token":"a","token_type":"Bearer","expires_in":3600}"#)])
    let token = try await endpoints(fetcher).migrationToken(for: client, by: try TeamKeyTests.key())
    #expect(token.reveal() == "a")
    #expect(fetcher.requests[0].url == "https://appleid.apple.com/auth/token")
    let form = try FormBody(parsing: fetcher.requests[0].body)
    #expect(Set(form.names) == ["client_id", "client_secret", "grant_type", "scope"])
    #expect(form["grant_type"] == "client_credentials")
    #expect(form["scope"] == "user.migration")
  }

  @Test func `X01 an export names the person and the team that the app goes to, under the access token`()
    async throws
  {
    let fetcher = ScriptedFetcher([answer(#"{"transfer_sub":"t.1"}"#)])
    let subject = try await endpoints(fetcher).transferSubject(
      of: Subject(unchecked: "001.alice"), to: recipient, with: Secret("a"), for: client,
      by: try TeamKeyTests.key())
    #expect(subject.text == "t.1")
    let request = fetcher.requests[0]
    #expect(request.method == .post)
    #expect(request.url == "https://appleid.apple.com/auth/usermigrationinfo")
    #expect(request.headers.contains { $0 == ("Authorization", "Bearer a") })
    let form = try FormBody(parsing: request.body)
    #expect(Set(form.names) == ["client_id", "client_secret", "sub", "target"])
    #expect(form["sub"] == "001.alice")
    #expect(form["target"] == "RECIPIENT2")
  }

  @Test(arguments: [
    (#"{"sub":"002.alice"}"#, nil, false),
    (#"{"sub":"002.alice","email":"a@example.com"}"#, "a@example.com", false),
    (#"{"sub":"002.alice","email":"a@example.com","is_private_email":true}"#, "a@example.com", true),
    (#"{"sub":"002.alice","email":"a@example.com","is_private_email":"true"}"#, "a@example.com", true),
    (#"{"sub":"002.alice","email":"a@example.com","is_private_email":"false"}"#, "a@example.com", false),
    (#"{"sub":"002.alice","email":"no address","is_private_email":true}"#, nil, false),
  ])
  func `an import says who the person is, and of the address what Apple says`(
    _ body: String, _ email: String?, _ isPrivate: Bool
  ) async throws {
    let fetcher = ScriptedFetcher([answer(body)])
    let person = try await endpoints(fetcher).person(
      transferredAs: Subject(unchecked: "t.1"), with: Secret("a"), for: client, by: try TeamKeyTests.key())
    #expect(
      person
        == TransferredPerson(
          subject: Subject(unchecked: "002.alice"), email: email.flatMap(EmailAddress.init),
          isPrivateEmail: isPrivate))
    let form = try FormBody(parsing: fetcher.requests[0].body)
    #expect(Set(form.names) == ["client_id", "client_secret", "transfer_sub"])
  }

  @Test(arguments: [
    (200, "{}", AppleFault.transient(.unexpected)), (200, #"{"transfer_sub":""}"#, .transient(.unexpected)),
    (200, #"{"transfer_sub":7}"#, .transient(.unexpected)),
    (200, #"{"transfer_sub":"with space"}"#, .transient(.unexpected)),
    (400, #"{"error":"invalid_request"}"#, .misconfigured(.invalidRequest)),
    (400, #"{"error":"invalid_client"}"#, .misconfigured(.invalidClient)),
    (401, #"{"error":"invalid_token"}"#, .transient(.unexpected)), (429, "", .throttled()),
    (503, "<html>", .transient(.serverError)), (200, "<html>", .transient(.notJSON)),
  ])
  func `an answer has its class`(_ status: Int, _ body: String, _ expected: AppleFault) async throws {
    let key = try TeamKeyTests.key()
    let endpoints = endpoints(ScriptedFetcher([answer(body, status: status)]))
    await #expect(throws: expected) {
      _ = try await endpoints.transferSubject(
        of: Subject(unchecked: "001.alice"), to: recipient, with: Secret("a"), for: client, by: key)
    }
  }

  @Test
  func `only who is unknown to Apple four times in a row is unknown, and an outage between says nothing`() {
    let (stranger, outage) = (AppleFault.misconfigured(.invalidClient), AppleFault.transient(.serverError))
    var streak = StrangerStreak()
    let answers = [stranger, stranger, stranger, outage, stranger, stranger, .grantRefused, stranger].map {
      streak.note($0)
    }
    #expect(answers == [false, false, false, false, false, false, false, true])
  }
}
