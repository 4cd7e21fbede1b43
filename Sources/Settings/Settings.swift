//===-- Settings -----------------------------------------------------------===//
// What an operator may set: the environment and a YAML file, read once into typed values, with every fault
// reported together. What is typed here is right; nobody checks it again.
//===------------------------------------------------------------------------===//

package import AppleIdentity
package import Crypto
package import Domain
package import FirebaseIdentity
package import Sessions
package import Telemetry

/// Everything that is set.
package struct Settings: Sendable {
  /// What the listener proves who it is with.
  package struct TLSFiles: Sendable {
    /// PEM.
    package let certificate: [UInt8]
    package let privateKey: Secret<[UInt8]>
  }

  /// Where events go, and what they are signed with.
  package struct Webhook: Sendable {
    package let url: String
    package let key: WebhookKey
  }

  /// Where everything is kept.
  package enum Database: Sendable {
    case sqlite(path: String)
    /// A URL as libpq reads it; there may be a password in it.
    case postgres(url: Secret<String>)

    /// What messages call it.
    package var name: String {
      switch self {
      case .sqlite(let path): path
      case .postgres: "of BRAMLEY_DATABASE_URL"
      }
    }
  }

  /// Whose sessions are handed over, and where the keys of its tokens are.
  package struct Firebase: Sendable, Equatable {
    package let rules: FirebaseTokenRules
    package let keysURL: String
  }

  /// Where to listen.
  package struct Listen: Sendable, Equatable {
    package let host: String
    package let port: UInt16
    /// `host:port`, an IPv6 address in brackets.
    package var text: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
    /// Whether only this machine can reach it: `localhost`, 127.0.0.0/8 or `::1`.
    package var isLoopback: Bool {
      if host == "localhost" { return true }
      let bytes = addressBytes(host)
      return bytes?.count == 4 ? bytes?.first == 127 : bytes == [UInt8](repeating: 0, count: 15) + [1]
    }
    /// Whether this is every address of the machine, in any spelling of nothing but zeros.
    package var isWildcard: Bool {
      // `0` and the like are addresses to the system, too.
      addressBytes(host)?.allSatisfy { $0 == 0 } ?? host.utf8.allSatisfy { "0x.".utf8.contains($0) }
    }
  }

  package let listen: Listen
  /// Nil: everything is on the one listener.
  package let adminListen: Listen?
  /// Nil: plain HTTP, and a proxy in front.
  package let tls: TLSFiles?
  /// Nil: made from the address that the listener gets.
  package let publicURL: String?
  package let projectID: String
  /// Nil: the public URL.
  package let issuer: String?
  package let database: Database
  /// The first makes new things, all are accepted. Nil: a file beside the database.
  package let masterKeys: [Secret<[UInt8]>]?
  package let apiKeys: [Secret<String>]
  package let serviceKeys: [Secret<String>]
  /// By the name of their holder; empty: there are no administrators.
  package let adminTokens: [String: Secret<String>]
  /// Whether `Bearer owner` is an administrator; then everything is on this machine.
  package let isDevMode: Bool
  package let appleRules: IdentityTokenRules
  package let appleBaseURL: String
  /// What proves the team to Apple; nil: code exchange and revocation are off.
  package let appleKey: TeamKey?
  /// The other team's, during a transfer.
  package let oldAppleKey: TeamKey?
  /// Whether sessions end when Apple says that the consent is gone.
  package let revalidationEndsSessions: Bool
  /// What becomes of an account when Apple says that the one there is gone.
  package let accountDeletedPolicy: AppleDeletionPolicy
  /// Where the app's back end is told of accounts; nil: nowhere.
  package let webhook: Webhook?
  /// Nil: nobody comes over from Firebase.
  package let firebase: Firebase?
  package let sessionAlgorithm: SignatureAlgorithm
  /// Seconds that a signing key signs; zero: until somebody asks for the next.
  package let keyRotation: Int64
  package let sessionTTL: Int64
  package let sessionIdleTTL: Int64
  package let sessionMaxTTL: Int64
  /// Zero for any number.
  package let sessionMaximum: Int
  package let auditRetention: Int64
  package let clockLeeway: Int64
  package let retryWindow: Int64
  package let recentLoginWindow: Int64
  package let accountLinking: AccountLinking
  /// Whether an account may be made without an identity.
  package let allowsAnonymous: Bool
  /// Who may sign custom tokens.
  package let customTokenKeys: [PublicKey]
  /// Where the web flow may end.
  package let returnURLs: [String]
  /// `*` alone, or exact origins.
  package let allowedOrigins: [String]
  package let rates: Rates
  /// Networks whose `X-Forwarded-For` is believed.
  package let trustedProxies: [Network]
  package let threads: Int
  package let logLevel: Log.Level
  /// What is allowed but probably not meant.
  package let warnings: [String]
}

/// How much one address, and one account, may ask; nil for no limit.
package struct Rates: Sendable, Equatable {
  package let signIn: Rate?
  package let refresh: Rate?
  package let signUp: Rate?

  package init(signIn: Rate?, refresh: Rate?, signUp: Rate?) {
    self.signIn = signIn
    self.refresh = refresh
    self.signUp = signUp
  }
}

/// One thing that is wrong with the settings: which, and what would be right.
package struct SettingsFault: Equatable, Sendable {
  /// `BRAMLEY_…`, or the file.
  package let setting: String
  package let problem: String
}

/// Everything that is wrong with the settings.
package struct SettingsFaults: Error, Equatable, Sendable {
  package let faults: [SettingsFault]
}
