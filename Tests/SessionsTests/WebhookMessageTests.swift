import Domain
import Sessions
import Storage
import Testing
import Wire

/// What the app's back end is sent.
@Suite struct WebhookMessageTests {
  private func event(
    _ kind: WebhookKind = .consentRevoked, provider: String? = "apple.com",
    cause: WebhookCause? = .revalidation,
    attempts: Int = 1
  ) -> WebhookEvent {
    WebhookEvent(
      id: WebhookID(unchecked: "evt_1"), position: 1,
      news: WebhookNews(
        kind: kind, account: AccountID(unchecked: "alice"), provider: provider, cause: cause,
        at: UnixTime(1_750_000_000)),
      dueAt: nil, givesUpAt: UnixTime(1_750_259_200), attempts: attempts)
  }

  @Test func `a body says what happened, and leaves out what there is not`() {
    #expect(
      String(decoding: event().body, as: UTF8.self)
        == #"{"id":"evt_1","type":"user.consent_revoked","createdAt":1750000000,"#
        + #""data":{"localId":"alice","providerId":"apple.com","cause":"revalidation"}}"#)
    #expect(
      String(decoding: event(.userCreated, provider: nil, cause: nil).body, as: UTF8.self)
        == #"{"id":"evt_1","type":"user.created","createdAt":1750000000,"data":{"localId":"alice"}}"#)
  }

  @Test func `each attempt has the same body and id, and a time and a signature of its own`() throws {
    let key = try #require(WebhookKey(text: "a-secret-of-some-length"))
    func headers(_ attempts: Int, _ moment: Int64) -> [String: String] {
      Dictionary(
        uniqueKeysWithValues: event(attempts: attempts).headers(signedBy: key, at: UnixTime(moment)).map {
          ($0.name, $0.value)
        })
    }
    #expect(event(attempts: 1).body == event(attempts: 2).body)
    let (first, second) = (headers(1, 1_750_000_001), headers(2, 1_750_000_009))
    #expect(first["webhook-id"] == "evt_1" && second["webhook-id"] == "evt_1")
    #expect(first["webhook-timestamp"] == "1750000001")
    #expect(first["webhook-signature"] != second["webhook-signature"])
    #expect(
      first["webhook-signature"] == key.signature(id: "evt_1", timestamp: 1_750_000_001, body: event().body))
  }

  @Test func `a signature is that of Standard Webhooks`() throws {
    let key = try #require(WebhookKey(text: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLVCq"))
    #expect(
      key.signature(
        id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1_614_265_330,
        body: Array(#"{"test": 2432232314}"#.utf8))
        == "v1,9h9YQ5A4+k3m2yGMZcDBsvA44ICs/hNEAg6n35G3xeM=")
  }

  @Test(arguments: [
    ("fifteen-letters", false), ("sixteen-letters-", true), ("whsec_AAAAAAAAAAAAAAAAAAAAAA==", true),
    ("whsec_AAAAAAAAAAAAAAAAAAAAAA", true), ("whsec_AAAAAAAAAAAAAAAAAAAA", false),
    ("whsec_not-base64-at-all-", false),
    ("sixteen letters with spaces", false), ("ein-Schlüssel-mit-Umlaut", false), ("", false),
  ])
  func `a secret has at least sixteen bytes`(_ text: String, _ isGood: Bool) {
    #expect((WebhookKey(text: text) != nil) == isGood)
  }
}
