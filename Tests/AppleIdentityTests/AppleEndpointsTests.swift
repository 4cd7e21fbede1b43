import AppleIdentity
import Domain
import TestSupport
import Testing
import Wire

private let client = ClientID(unchecked: "com.example.app")
private let noon = ManualClock()

/// What is sent to Apple, and what its answers mean.
@Suite struct AppleEndpointsTests {
  private func endpoints(_ fetcher: ScriptedFetcher) -> AppleEndpoints {
    AppleEndpoints(baseURL: "https://appleid.apple.com", fetcher: fetcher, clock: noon.wall)
  }

  private func fault(_ step: ScriptedFetcher.Step) async throws -> AppleFault? {
    let key = try TeamKeyTests.key()
    do throws(AppleFault) {
      try await endpoints(ScriptedFetcher([step])).refresh(Secret("token"), for: client, by: key)
      return nil
    } catch {
      return error
    }
  }

  private static let tokens = Array(
    #"{"access_token":"a","token_type":"Bearer","expires_in":3600,"refresh_token":"r","id_token":"i"}"#.utf8)

  @Test func `O02 a code goes as a form, with the client of the code in the call and in its secret`()
    async throws
  {
    let fetcher = ScriptedFetcher([.answer(.json(Self.tokens)), .answer(.json(Self.tokens))])
    let key = try TeamKeyTests.key()
    let answer = try await endpoints(fetcher).exchange(
      code: Secret("c+d&e=f g%"), redirectURI: nil, for: client, by: key)
    #expect(answer.refreshToken?.reveal() == "r")
    #expect(answer.idToken?.reveal() == "i")
    _ = try await endpoints(fetcher).exchange(
      code: Secret("c"), redirectURI: "https://app.example.com/?a=b&c", for: client, by: key)
    let (native, web) = (fetcher.requests[0], fetcher.requests[1])
    #expect(native.method == .post)
    #expect(native.url == "https://appleid.apple.com/auth/token")
    #expect(native.headers.contains { $0 == ("Content-Type", "application/x-www-form-urlencoded") })
    #expect(native.totalMilliseconds >= 5000)
    let form = try FormBody(parsing: native.body)
    #expect(Set(form.names) == ["client_id", "client_secret", "grant_type", "code"])
    #expect(form["client_id"] == "com.example.app")
    #expect(form["grant_type"] == "authorization_code")
    #expect(form["code"] == "c+d&e=f g%")
    let secret = try #require(form["client_secret"]).split(separator: ".")
    let claims = try JSONObject(parsing: decodeBase64URL(secret[1].utf8))
    #expect(claims.text("sub") == "com.example.app")
    #expect(try FormBody(parsing: web.body)["redirect_uri"] == "https://app.example.com/?a=b&c")
  }

  @Test func `V01 a revocation is done with 200, unless it is a page of somebody else's`() async throws {
    let answers = [[], Array("{}\n".utf8), Array("<html>".utf8)].map {
      ScriptedFetcher.Step.answer(FetchResponse(status: 200, contentType: nil, body: $0))
    }
    let fetcher = ScriptedFetcher(answers)
    let key = try TeamKeyTests.key()
    for hint in ["refresh_token", "access_token"] {
      try await endpoints(fetcher).revoke(Secret("t"), hint: hint, for: client, by: key)
    }
    do {
      try await endpoints(fetcher).revoke(Secret("t"), hint: "refresh_token", for: client, by: key)
      Issue.record("a page is taken for a revocation")
    } catch {
      #expect(error == .transient(.notJSON))
    }
    #expect(fetcher.requests[0].url == "https://appleid.apple.com/auth/revoke")
    let form = try FormBody(parsing: fetcher.requests[1].body)
    #expect(Set(form.names) == ["client_id", "client_secret", "token", "token_type_hint"])
    #expect(form["token_type_hint"] == "access_token")
  }

  @Test(arguments: [
    (400, #"{"error":"invalid_grant"}"#, AppleFault.grantRefused),
    (400, #"{"error":"invalid_grant","error_description":"client_id mismatch"}"#, .grantRefused),
    (400, #"{"error":"invalid_client"}"#, .misconfigured(.invalidClient)),
    (401, #"{"error":"invalid_client"}"#, .misconfigured(.invalidClient)),
    (400, #"{"error":"unauthorized_client"}"#, .misconfigured(.unauthorizedClient)),
    (400, #"{"error":"invalid_scope"}"#, .misconfigured(.invalidScope)),
    (400, #"{"error":"unsupported_grant_type"}"#, .misconfigured(.unsupportedGrantType)),
    (400, #"{"error":"invalid_request"}"#, .misconfigured(.invalidRequest)),
    (400, #"{"error":"something_new"}"#, .transient(.unexpected)),
    (400, #"{"error":7}"#, .transient(.unexpected)), (400, "{}", .transient(.unexpected)),
    (400, "<html>invalid_grant</html>", .transient(.notJSON)),
    (403, "<html>", .transient(.notJSON)), (302, "", .transient(.notJSON)),
    (200, "<html>", .transient(.notJSON)), (200, "{}", .transient(.unexpected)),
    (200, #"{"error":"invalid_grant"}"#, .transient(.unexpected)),
    (429, "", .throttled()), (429, #"{"error":"invalid_grant"}"#, .throttled()),
    (500, #"{"error":"invalid_grant"}"#, .transient(.serverError)),
    (503, "<html>", .transient(.serverError)),
  ])
  func `an answer has its class`(_ status: Int, _ body: String, _ expected: AppleFault) async throws {
    let answer = FetchResponse(status: status, contentType: "text/html", body: Array(body.utf8))
    #expect(try await fault(.answer(answer)) == expected)
  }

  @Test(
    arguments: [
      ("120", 120), ("Sun, 06 Nov 1994 08:51:37 GMT", 120), ("Sun, 06 Nov 1994 08:00:00 GMT", 0),
      ("soon", nil),
      ("", nil), ("-5", nil),
    ] as [(String, Int64?)])
  func `O10 who throttles may say for how long`(_ text: String, _ seconds: Int64?) async throws {
    let answer = FetchResponse(
      status: 429, contentType: "text/html", date: "Sun, 06 Nov 1994 08:49:37 GMT", retryAfter: text, body: []
    )
    #expect(try await fault(.answer(answer)) == .throttled(after: seconds))
  }

  @Test(arguments: [
    (FetchError.couldNotConnect, AppleFault.transient(.couldNotConnect), false),
    (.tlsFailed, .transient(.tlsFailed), false), (.addressNotAllowed, .transient(.addressNotAllowed), false),
    (.timedOut, .transient(.timedOut), true), (.broken, .transient(.broken), true),
    (.bodyTooLarge, .transient(.bodyTooLarge), true), (.shuttingDown, .transient(.shuttingDown), true),
  ])
  func `what never arrived is told from what may have`(
    _ error: FetchError, _ expected: AppleFault, _ mayHaveActed: Bool
  ) async throws {
    #expect(try await fault(.failure(error)) == expected)
    #expect(expected.mayHaveActed == mayHaveActed)
  }

  @Test func `the words for what goes wrong are few, and each is one thing`() {
    #expect(Set(AppleFault.allCases.map(\.label)).count == AppleFault.allCases.count)
    #expect(AppleFault.allCases.count < 30)
  }
}
