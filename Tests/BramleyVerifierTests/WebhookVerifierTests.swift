import BramleyVerifier
import Domain
import Testing

/// Signed by `standardwebhooks` of PyPI.
private let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLVCq"
private let id = "msg_p5jXN8AQM9LWM0D4loKWxJek"
private let body = #"{"test": 2432232314}"#
private let signature = "v1,9h9YQ5A4+k3m2yGMZcDBsvA44ICs/hNEAg6n35G3xeM="
private let moment: Int64 = 1_614_265_330

@Suite struct WebhookVerifierTests {
  private func takes(
    secret: String = secret, body: String = body, id: String = id, timestamp: String = "\(moment)",
    signature: String = signature, at now: Int64 = moment
  ) -> Bool? {
    WebhookVerifier(secret: secret, clock: WallClock { UnixTime(now) })?.isAuthentic(
      body: body.utf8, id: id, timestamp: timestamp, signature: signature)
  }

  @Test func `what was signed is taken, also beside other signatures`() {
    #expect(takes() == true)
    #expect(takes(signature: "v2,abc v1,AAAA \(signature)") == true)
  }

  @Test func `what was changed is not`() {
    #expect(takes(body: body + " ") == false)
    #expect(takes(id: id + "x") == false)
    #expect(takes(timestamp: "\(moment + 1)") == false)
    #expect(takes(secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLVCr") == false)
    for other in [
      "", "v1,", "v1,g0hM", String(signature.dropFirst(3)), signature + "A", "v2" + signature.dropFirst(2),
    ] {
      #expect(takes(signature: other) == false)
    }
  }

  @Test func `a time that is more than five minutes off is not taken`() {
    #expect(takes(at: moment + 300) == true)
    #expect(takes(at: moment - 300) == true)
    #expect(takes(at: moment + 301) == false)
    #expect(takes(at: moment - 301) == false)
    for text in ["", "x", "-5", "+\(moment)", "\(moment).0", "99999999999999999999"] {
      #expect(takes(timestamp: text) == false)
    }
  }

  @Test func `a secret is text, or base64 with or without padding`() {
    #expect(takes(secret: "whsec_!") == nil)
    #expect(takes(secret: "zwei Wörter") == nil)
    #expect(takes(secret: "a-plain-secret") == false)
    #expect(WebhookVerifier(secret: "whsec_YWJjZA") != nil)
  }
}
