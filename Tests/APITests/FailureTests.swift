import API
import HTTPServer
import Telemetry
import TestSupport
import Testing
import Wire

/// The contract's table of errors: code, status, reasons.
private let table: [(code: String, status: Int, reasons: [String])] =
  explained + wordsOfFirebase.map { ($0, 400, [$0.lowercased()]) }

/// Codes of Firebase's whose one reason is the code in lower case.
private let wordsOfFirebase = [
  "INVALID_PENDING_TOKEN",
  "EMAIL_EXISTS",
  "MISSING_REQUEST_URI",
  "INVALID_REQUEST_URI",
  "MISSING_ID_TOKEN",
  "ADMIN_ONLY_OPERATION",
  "INVALID_REQ_TYPE",
  "INSUFFICIENT_PERMISSION",
  "MISSING_LOCAL_ID",
  "DUPLICATE_LOCAL_ID",
  "DUPLICATE_RAW_ID",
  "CLAIMS_TOO_LARGE",
  "INVALID_CLAIMS",
  "FORBIDDEN_CLAIM",
  "INVALID_DURATION",
  "INVALID_PAGE_SELECTION",
  "LOCAL_ID_LIST_EXCEEDS_LIMIT",
  "MISSING_USER_ACCOUNT",
  "INVALID_CUSTOM_TOKEN",
  "MISSING_CUSTOM_TOKEN",
  "CREDENTIAL_MISMATCH",
  "UNSUPPORTED_TENANT_OPERATION",
  "TENANT_NOT_FOUND",
  "CONFIGURATION_NOT_FOUND",
  "INVALID_EMAIL",
  "MISSING_IDENTIFIER",
  "INVALID_IDENTIFIER",
  "MISSING_CONTINUE_URI",
  "INVALID_CONTINUE_URI",
]

private let explained: [(code: String, status: Int, reasons: [String])] = [
  (
    "MISSING_OR_INVALID_NONCE", 400,
    [
      "nonce_missing", "nonce_mismatch", "nonce_claim_missing", "nonce_is_already_hashed",
      "nonce_claim_not_hashed",
      "nonce_claim_is_hashed", "nonce_double_hashed", "nonce_wrong_encoding", "credential_already_used",
      "challenge_required", "challenge_expired",
    ]
  ),
  (
    "INVALID_IDP_RESPONSE", 400,
    [
      "code_mismatch", "state_invalid", "state_expired", "state_of_another_browser",
      "user_cancelled_authorize",
      "apple_refused", "token_missing", "token_malformed", "token_too_large", "algorithm_not_allowed",
      "key_unknown",
      "signature_invalid",
      "issuer_not_allowed", "audience_not_allowed", "token_expired", "token_too_old", "token_from_the_future",
      "claim_invalid", "header_not_allowed",
    ]
  ),
  ("INVALID_ID_TOKEN", 400, ["session_token_invalid"]),
  (
    "TOKEN_EXPIRED", 400,
    [
      "session_token_expired", "session_ended", "session_revoked", "refresh_token_reused",
      "refresh_token_unknown",
      "session_idle", "session_over_age",
    ]
  ),
  ("INVALID_REFRESH_TOKEN", 400, ["invalid_refresh_token"]),
  ("MISSING_REFRESH_TOKEN", 400, ["missing_refresh_token"]),
  ("INVALID_GRANT_TYPE", 400, ["invalid_grant_type"]), ("USER_DISABLED", 400, ["user_disabled"]),
  ("USER_NOT_FOUND", 400, ["user_not_found"]), ("EMAIL_NOT_FOUND", 400, ["email_not_found"]),
  ("FEDERATED_USER_ID_ALREADY_LINKED", 400, ["federated_user_id_already_linked"]),
  ("CREDENTIAL_TOO_OLD_LOGIN_AGAIN", 400, ["credential_too_old_login_again"]),
  (
    "OPERATION_NOT_ALLOWED", 400,
    [
      "operation_not_allowed", "provider_not_enabled", "disable_not_allowed", "apple_key_missing",
      "no_apple_identity",
      "custom_tokens_not_enabled", "hand_over_not_enabled",
    ]
  ),
  ("INVALID_PROVIDER_ID", 400, ["invalid_provider_id"]),
  (
    "INVALID_ARGUMENT", 400,
    [
      "body_malformed", "request_malformed", "duplicate_member", "field_missing", "field_type",
      "field_too_long", "field_invalid", "field_unknown", "code_challenge_missing",
    ]
  ),
  ("INVALID_CONTINUE_URI", 400, ["return_url_not_allowed"]),
  (
    "INVALID_CODE", 400, ["code_invalid", "code_expired", "code_already_used", "code_verifier_mismatch"]
  ),
  ("INVALID_ARGUMENT", 404, ["not_found"]), ("INVALID_ARGUMENT", 405, ["method_not_allowed"]),
  ("INVALID_ARGUMENT", 408, ["request_timeout"]), ("INVALID_ARGUMENT", 413, ["body_too_large"]),
  ("INVALID_ARGUMENT", 415, ["media_type_not_supported"]), ("INVALID_ARGUMENT", 431, ["header_too_large"]),
  ("TOO_MANY_ATTEMPTS_TRY_LATER", 429, ["too_many_attempts_try_later"]),
  ("UNAUTHENTICATED", 401, ["admin_token_missing", "admin_token_invalid", "service_key_invalid"]),
  ("PERMISSION_DENIED", 403, ["api_key_missing", "api_key_invalid"]),
  (
    "UNAVAILABLE", 503,
    [
      "apple_keys_unavailable", "firebase_keys_unavailable", "storage_unavailable", "signing_key_unavailable",
      "deadline_exceeded",
      "overloaded",
      "shutting_down",
    ]
  ),
  ("INTERNAL", 500, ["internal"]),
]

@Suite struct FailureTests {
  @Test func `every reason stands in the contract's table, once, with its code and status`() {
    let expected = table.flatMap { row in row.reasons.map { "\($0) \(row.code) \(row.status)" } }
    let present = FailureReason.allCases.map { "\($0.rawValue) \($0.row.code.rawValue) \($0.row.status)" }
    #expect(expected.sorted() == present.sorted())
    #expect(
      Set(FailureReason.allCases.map { $0.row.code.rawValue }) == Set(FailureCode.allCases.map(\.rawValue)))
  }

  @Test(arguments: FailureReason.allCases)
  func `a sentence is one for a person: it begins with a capital or a field's name and ends with a stop`(
    _ reason: FailureReason
  ) {
    let sentence = "\(reason.row.sentence)"
    #expect(sentence.hasSuffix("."))
    #expect(!sentence.contains(" : "))
    #expect(!sentence.contains("\n"))
  }

  @Test func `only what is wrong with the bearer is 401`() {
    #expect(Failure(.sessionTokenExpired, challenge: .invalidToken).status == 401)
    #expect(Failure(.sessionTokenExpired).status == 400)
    #expect(Failure(.storageUnavailable, challenge: .invalidToken).status == 503)
  }

  @Test func `the envelope is Google's, with details`() async throws {
    let bench = try await Bench()
    let response = try await bench.post("/v1/signInWithIdp", "{}", headers: ["X-Request-Id": "id 1"])
    #expect(
      String(decoding: response.body, as: UTF8.self)
        == #"{"error":{"code":400,"message":"INVALID_ARGUMENT : A field that is needed is missing or empty.","#
        + #""status":"INVALID_ARGUMENT","errors":[{"message":"INVALID_ARGUMENT : A field that is needed is missing "#
        + #"or empty.","reason":"invalid","domain":"global"}],"#
        + #""details":[{"reason":"field_missing","requestId":"id 1","field":"idToken"}]}}"#)
    #expect(response.status == 400)
    #expect(response.headers.all("Content-Type") == ["application/json; charset=utf-8"])
    #expect(response.headers.all("Cache-Control") == ["no-store"])
    #expect(response.headers.all("Retry-After") == [])
    #expect(response.headers.all("WWW-Authenticate") == [])
  }

  @Test func `a failure may name the claim, and say more beside the error`() async throws {
    let route = Route("GET", "/claim", name: "none", access: .open) { _ throws(Failure) in
      throw Failure(
        .forbiddenClaim, detail: "iss",
        beside: [
          Failure.Member("providerId", text: "apple.com"),
          Failure.Member("needConfirmation", json: Array("true".utf8)),
        ])
    }
    let object = try await Bench(routes: [route]).send("GET", "/claim").object()
    #expect(object.names == ["error", "providerId", "needConfirmation"])
    #expect(object.text("providerId") == "apple.com")
    #expect(try object.optionalFlag("needConfirmation") == true)
    let error = try #require(try object.optionalObject("error"))
    #expect(error.text("message") == "FORBIDDEN_CLAIM : iss")
    #expect(error.text("status") == "INVALID_ARGUMENT")
  }

  @Test func `an outage says when to come back`() async throws {
    let bench = try await Bench(steps: [.failure(.timedOut)])
    let response = try await bench.signIn()
    #expect(response.status == 503)
    #expect(response.reason == "apple_keys_unavailable")
    let seconds = try #require(response.headers.first("Retry-After").flatMap { Int($0) })
    #expect((1...5).contains(seconds))
    #expect(try response.object().optionalObject("error")?.text("status") == "UNAVAILABLE")
  }

  @Test(arguments: [
    (ListenerRefusal.requestMalformed, 400, "request_malformed"), (.headerTooLarge, 431, "header_too_large"),
    (.bodyTooLarge, 413, "body_too_large"), (.requestTimeout, 408, "request_timeout"),
    (.deadlineExceeded, 503, "deadline_exceeded"), (.overloaded, 503, "overloaded"),
    (.shuttingDown, 503, "shutting_down"),
  ])
  func `the listener's refusals are answers like any other`(
    _ refusal: ListenerRefusal, _ status: Int, _ reason: String
  ) async throws {
    let bench = try await Bench()
    let response = bench.router.refuse(refusal, nil)
    #expect(response.status == status)
    #expect(response.reason == reason)
    #expect(response.headers.first("X-Request-Id") != nil)
    #expect((response.headers.first("Retry-After") != nil) == (status == 503))
  }
}
