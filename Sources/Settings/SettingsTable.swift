/// One setting as an operator knows it.
package struct Setting: Sendable {
  /// Lower case, without the prefix: the name in a settings file.
  package let name: String
  /// What `config print` shows when nothing is set.
  package let defaultText: String
  /// Whether the value is hidden in print.
  package let isSecret: Bool
  package let meaning: String

  /// Whether a running service takes over a new value (SIGHUP).
  package var isReloadable: Bool {
    [
      "apple_client_ids", "apple_issuers", "apple_max_token_age", "api_keys", "service_keys",
      "allowed_origins",
      "rate_signin",
      "rate_refresh", "rate_signup", "trusted_proxies", "log_level", "admin_token", "custom_token_keys",
      "return_urls", "apple_team_id", "apple_key_id", "apple_private_key", "apple_old_team_id",
      "apple_old_key_id", "apple_old_private_key", "revalidate_ends_sessions", "account_deleted_policy",
    ].contains(name)
  }

  /// Whether the value may come from a file named by `NAME_FILE`: secrets, what may hold one, and what nobody types.
  package var mayBeFile: Bool { isSecret || ["custom_token_keys", "database_url"].contains(name) }

  /// The name in the environment.
  package var variable: String { "BRAMLEY_" + uppercase(name) }
}

/// Every setting there is. What is not here is unknown, and unknown settings are faults.
package let allSettings: [Setting] = [
  Setting(
    name: "listen", defaultText: "127.0.0.1:8080", isSecret: false,
    meaning: "host:port to listen on; port 0 picks one"),
  Setting(
    name: "admin_listen", defaultText: "none", isSecret: false,
    meaning: "host:port of a listener of its own for /metrics"),
  Setting(
    name: "tls_cert", defaultText: "none", isSecret: false,
    meaning: "PEM file with the certificate chain: the listener speaks TLS 1.2 or newer itself"),
  Setting(
    name: "tls_key", defaultText: "none", isSecret: false,
    meaning: "PEM file with the private key of tls_cert"),
  Setting(
    name: "public_url", defaultText: "http://<listen>", isSecret: false,
    meaning: "base of links and the default issuer; required when listening on every address"),
  Setting(
    name: "project_id", defaultText: "bramley", isSecret: false, meaning: "`aud` of session JWTs"),
  Setting(
    name: "issuer", defaultText: "the public URL", isSecret: false,
    meaning: "`iss` of session JWTs; `firebase` means https://securetoken.google.com/<project>"),
  Setting(
    name: "database_url", defaultText: "sqlite:bramley.db", isSecret: false,
    meaning: "sqlite:PATH, or a postgres:// URL as libpq reads it"),
  Setting(
    name: "master_key", defaultText: "a file beside the database", isSecret: true,
    meaning: "32 bytes base64, or a comma list: the first is used for new things, all are accepted"),
  Setting(
    name: "api_keys", defaultText: "none asked for", isSecret: true,
    meaning: "comma list for `?key=` or `X-API-Key`; they name a caller, they protect nothing"),
  Setting(
    name: "admin_token", defaultText: "none", isSecret: true,
    meaning: "bearer of administrators, at least 16 characters, or a comma list of `name=token`"),
  Setting(
    name: "dev_mode", defaultText: "false", isSecret: false,
    meaning: "`true`: `Bearer owner` is an administrator; on this machine alone"),
  Setting(
    name: "service_keys", defaultText: "none", isSecret: true,
    meaning: "comma list of keys by which back ends ask about sessions, as `X-API-Key` or a bearer"),
  Setting(
    name: "apple_client_ids", defaultText: "required", isSecret: false,
    meaning: "comma list of bundle ids and Services IDs, each with an optional nonce rule: "
      + "`:nonce=sha256` (default), `raw`, `challenge` or `raw+challenge`"),
  Setting(
    name: "apple_team_id", defaultText: "none", isSecret: false,
    meaning: "team id of the .p8 key; without the key, code exchange and revocation are off"),
  Setting(
    name: "apple_key_id", defaultText: "none", isSecret: false, meaning: "key id of the .p8 key"),
  Setting(
    name: "apple_private_key", defaultText: "none", isSecret: true,
    meaning: "the .p8 key's PEM text, newlines literal or as `\\n`"),
  Setting(
    name: "apple_old_team_id", defaultText: "none", isSecret: false,
    meaning: "team id of the key of the team that the app came from, during a transfer"),
  Setting(
    name: "apple_old_key_id", defaultText: "none", isSecret: false,
    meaning: "key id of the other team's key"),
  Setting(
    name: "apple_old_private_key", defaultText: "none", isSecret: true,
    meaning: "the other team's key, as apple_private_key"),
  Setting(
    name: "revalidate_ends_sessions", defaultText: "true", isSecret: false,
    meaning: "`true`: sessions end when Apple says that the person took the consent back"),
  Setting(
    name: "account_deleted_policy", defaultText: "delete", isSecret: false,
    meaning:
      "`delete`, `anonymise` or `keep`: what becomes of an account when Apple says that the one there is gone"
  ),
  Setting(
    name: "webhook_url", defaultText: "none", isSecret: false,
    meaning: "where the app's back end is told of accounts; http only for loopback"),
  Setting(
    name: "webhook_secret", defaultText: "none", isSecret: true,
    meaning: "signs what it is told: at least 16 characters, or `whsec_` and the base64 of at least 16 bytes"),
  Setting(
    name: "apple_base_url", defaultText: "https://appleid.apple.com", isSecret: false,
    meaning: "where Apple's /auth/keys, /auth/token and /auth/revoke are; http only for loopback"),
  Setting(
    name: "apple_issuers", defaultText: "https://appleid.apple.com", isSecret: false,
    meaning: "comma list of exact `iss` values"),
  Setting(
    name: "apple_max_token_age", defaultText: "3600", isSecret: false,
    meaning: "seconds since `iat` in which an Apple token may sign in"),
  Setting(
    name: "session_alg", defaultText: "ES256", isSecret: false,
    meaning: "ES256 or RS256, for signing keys that are made from now on"),
  Setting(
    name: "key_rotation", defaultText: "2592000", isSecret: false,
    meaning: "seconds between automatic signing-key rotations; 0 off"),
  Setting(
    name: "session_ttl", defaultText: "3600", isSecret: false,
    meaning: "seconds a session JWT lives, 600 to 86400"),
  Setting(
    name: "session_idle_ttl", defaultText: "2592000", isSecret: false,
    meaning: "seconds without a refresh after which a session ends"),
  Setting(
    name: "session_max_ttl", defaultText: "31536000", isSecret: false,
    meaning: "seconds after the sign-in at which a session ends"),
  Setting(
    name: "session_max_per_user", defaultText: "0", isSecret: false,
    meaning: "sessions of one account, of which the oldest ends for a new one; 0 for any number"),
  Setting(
    name: "audit_retention", defaultText: "31536000", isSecret: false,
    meaning: "seconds after which lines of the audit are forgotten"),
  Setting(
    name: "clock_leeway", defaultText: "60", isSecret: false,
    meaning: "seconds by which clocks may differ, at most 300"),
  Setting(
    name: "retry_window", defaultText: "120", isSecret: false,
    meaning: "seconds in which the same sign-in, sent again, gets the same session"),
  Setting(
    name: "recent_login_window", defaultText: "300", isSecret: false,
    meaning: "seconds since the sign-in in which an identity may be linked"),
  Setting(
    name: "account_linking", defaultText: "off", isSecret: false,
    meaning: "`verified-email`: a new identity joins the account that holds its verified address"),
  Setting(
    name: "anonymous", defaultText: "false", isSecret: false,
    meaning: "`true`: accounts without an identity may be made"),
  Setting(
    name: "custom_token_keys", defaultText: "none", isSecret: false,
    meaning: "PEM public keys or certificates whose holders may sign custom tokens, at most 16"),
  Setting(
    name: "return_urls", defaultText: "none", isSecret: false,
    meaning:
      "comma list of the exact URLs at which the web flow may end: https, an app's own scheme, or http on "
      + "this machine"),
  Setting(
    name: "firebase_project_id", defaultText: "none", isSecret: false,
    meaning: "the Firebase project whose sessions are handed over"),
  Setting(
    name: "firebase_keys_url", defaultText: "Google's", isSecret: false,
    meaning: "where the keys of its tokens are, as key set or certificates; http only for loopback"),
  Setting(
    name: "allowed_origins", defaultText: "*", isSecret: false,
    meaning: "comma list of origins whose pages may call (CORS)"),
  Setting(
    name: "trusted_proxies", defaultText: "none", isSecret: false,
    meaning: "comma list of networks (CIDR) whose X-Forwarded-For is believed"),
  Setting(
    name: "rate_signin", defaultText: "30/m", isSecret: false,
    meaning: "sign-ins of one address or one account; count/s, /m, /h or /d, or off"),
  Setting(
    name: "rate_refresh", defaultText: "60/m", isSecret: false,
    meaning: "refreshes of one address or one session"),
  Setting(
    name: "rate_signup", defaultText: "100/h", isSecret: false, meaning: "new accounts of one address"),
  Setting(
    name: "threads", defaultText: "cores", isSecret: false, meaning: "listener threads, 1 to 64"),
  Setting(
    name: "log_level", defaultText: "info", isSecret: false, meaning: "debug, info, warning or error"),
]

private func uppercase(_ name: String) -> String {
  String(decoding: name.utf8.map { (0x61...0x7A).contains($0) ? $0 - 0x20 : $0 }, as: UTF8.self)
}
