internal import FirebaseIdentity

// Whose people come over.
extension SettingsReader {
  /// The project whose sessions are handed over; nil: nobody's.
  ///
  /// - Parameters:
  ///   - leeway: Seconds by which clocks may differ.
  ///   - recentLoginWindow, sessionMaxTTL: A session that is handed over begins before that window and within half of
  ///     this age.
  mutating func firebase(
    leeway: Int64, recentLoginWindow: Int64, sessionMaxTTL: Int64
  ) -> Settings.Firebase? {
    let url = text("firebase_keys_url") ?? googleKeysURL
    if !isFullURL(url) {
      raw.fault("firebase_keys_url", "must be an https URL, or an http URL of this machine, without `#`")
    }
    guard let project = text("firebase_project_id") else {
      if raw.values["firebase_keys_url"] != nil {
        raw.fault("firebase_keys_url", "is no use without firebase_project_id")
      }
      return nil
    }
    if !isFirebaseProject(project) {
      raw.fault(
        "firebase_project_id",
        "must be the id of a Firebase project: lower-case letters, digits, `-`, `.` and `:`")
    }
    if sessionMaxTTL / 2 <= recentLoginWindow {
      raw.fault(
        "firebase_project_id",
        "needs session_max_ttl to be more than twice recent_login_window: a session that is "
          + "handed over is no recent login")
    }
    return Settings.Firebase(
      rules: FirebaseTokenRules(project: project, leeway: leeway), keysURL: url)
  }
}

private let googleKeysURL =
  "https://www.googleapis.com/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com"

/// Old projects are of a domain: `example.com:orchard`.
private func isFirebaseProject(_ text: String) -> Bool {
  (1...64).contains(text.utf8.count)
    && text.utf8.allSatisfy {
      (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || "-.:".utf8.contains($0)
    }
}
