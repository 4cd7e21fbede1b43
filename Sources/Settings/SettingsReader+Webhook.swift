internal import Domain
internal import Sessions

// What Apple tells, and what the app's back end is told.

extension SettingsReader {
  mutating func accountDeletedPolicy() -> AppleDeletionPolicy {
    guard let text = text("account_deleted_policy") else { return .delete }
    guard let policy = AppleDeletionPolicy(rawValue: text) else {
      raw.fault("account_deleted_policy", "must be delete, anonymise or keep")
      return .delete
    }
    return policy
  }

  /// Where events go and how they are signed: both or neither.
  mutating func webhook() -> Settings.Webhook? {
    let (url, secret) = (text("webhook_url"), text("webhook_secret"))
    guard let url, let secret else {
      // With a secret that cannot be read it is not alone.
      let isComplete = raw.unreadable.contains("webhook_secret")
      for (name, value) in [("webhook_url", url), ("webhook_secret", secret)]
      where value != nil && !isComplete {
        raw.fault(name, "is no use alone: webhook_url and webhook_secret belong together")
      }
      return nil
    }
    if !isFullURL(url) {
      raw.fault("webhook_url", "must be an https URL, or an http URL of this machine, without `#` and `@`")
    }
    guard let key = WebhookKey(text: secret) else {
      raw.fault(
        "webhook_secret",
        "must have at least \(Limits.webhookSecretBytes) printable characters; behind `whsec_` stands the base64 of at "
          + "least as many bytes")
      return nil
    }
    return Settings.Webhook(url: url, key: key)
  }
}

/// An https URL, or an http URL of this machine, of printable ASCII; it may have a query and no fragment.
func isFullURL(_ url: String) -> Bool {
  let schemes = ["https://", "http://"]
  guard url.utf8.count <= Limits.urlBytes, let scheme = schemes.first(where: { url.hasPrefix($0) }) else {
    return false
  }
  let rest = url.dropFirst(scheme.count)
  guard rest.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !"#\"<>\\^`{|}".utf8.contains($0) }) else {
    return false
  }
  let authority = rest.prefix { $0 != "/" && $0 != "?" }
  guard authorityHost(authority) != nil else { return false }
  // Its own reading stops at a slash.
  return scheme == "https://" || isLoopbackURL(scheme + authority)
}
