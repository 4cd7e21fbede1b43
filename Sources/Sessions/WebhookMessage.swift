package import Domain
package import Storage
internal import Wire

extension WebhookEvent {
  /// What the back end is sent: the same bytes at each attempt, since they follow from what was written when it happened.
  ///
  /// The account's id and words of ours, and nothing that says who the person is: an address that is called by mistake,
  /// or a log there, learns no name, no e-mail address and no id at Apple. Who needs more asks with a key.
  package var body: [UInt8] {
    var out = JSONWriter(reserving: 256)
    out.member("id", id.text)
    out.member("type", news.kind.rawValue)
    out.member("createdAt", news.at.seconds)
    out.object("data") { out in
      out.member("localId", news.account.text)
      out.member("providerId", news.provider)
      out.member("cause", news.cause?.rawValue)
    }
    return out.finish()
  }

  /// The headers of one attempt (Standard Webhooks 1.0, "Webhook headers").
  package func headers(signedBy key: WebhookKey, at now: UnixTime) -> [(name: String, value: String)] {
    [
      ("Content-Type", "application/json"), ("webhook-id", id.text),
      ("webhook-timestamp", String(now.seconds)),
      ("webhook-signature", key.signature(id: id.text, timestamp: now.seconds, body: body)),
    ]
  }
}
