package import AppleIdentity
package import Crypto
package import Domain
internal import Synchronization

/// What may change while the service runs, as one value: a request sees all of the old or all of the new.
package final class RequestPolicy: Sendable {
  let appleRules: IdentityTokenRules
  /// Whether there is a key with which codes can be exchanged and tokens revoked at Apple.
  var hasAppleKey: Bool { appleTeam != nil }
  /// Whose key that is, and whose clients the apps are.
  let appleTeam: TeamID?
  /// Whether sessions end when Apple says that the consent is gone.
  let revocationEndsSessions: Bool
  /// What becomes of an account when Apple says that the one there is gone.
  let deletionPolicy: AppleDeletionPolicy
  let apiKeys: APIKeys
  let serviceKeys: ServiceKeys
  let adminTokens: AdminTokens
  /// Whether `Bearer owner` is an administrator.
  let isDevMode: Bool
  /// Who may sign custom tokens.
  let customTokenKeys: [PublicKey]
  let crossOrigin: CrossOriginPolicy
  let limits: RequestLimits
  let trustedProxies: [Network]
  /// Where the web flow may end.
  private let returnURLs: Set<[UInt8]>

  /// - Parameter adminTokens: By the name of their holder.
  package init(
    appleRules: IdentityTokenRules, appleTeam: TeamID?, revocationEndsSessions: Bool,
    deletionPolicy: AppleDeletionPolicy, apiKeys: [Secret<String>],
    serviceKeys: [Secret<String>],
    adminTokens: [String: Secret<String>],
    isDevMode: Bool, customTokenKeys: [PublicKey], allowedOrigins: [String], limits: RequestLimits,
    trustedProxies: [Network], returnURLs: [String]
  ) {
    self.appleRules = appleRules
    self.appleTeam = appleTeam
    self.revocationEndsSessions = revocationEndsSessions
    self.deletionPolicy = deletionPolicy
    self.apiKeys = APIKeys(apiKeys)
    self.serviceKeys = ServiceKeys(serviceKeys)
    self.adminTokens = AdminTokens(adminTokens)
    self.isDevMode = isDevMode
    self.customTokenKeys = customTokenKeys
    crossOrigin = CrossOriginPolicy(allowed: allowedOrigins, isDevMode: isDevMode)
    self.limits = limits
    self.trustedProxies = trustedProxies
    self.returnURLs = Set(returnURLs.map { Array($0.utf8) })
  }

  /// Whether the web flow may end at a URL, which is compared as bytes (RFC 9700 §2.1).
  func allowsReturn(to url: String) -> Bool { returnURLs.contains(Array(url.utf8)) }
}

/// Holds the policy in force.
package final class PolicyHolder: Sendable {
  private let policy: Mutex<RequestPolicy>

  package init(_ policy: RequestPolicy) {
    self.policy = Mutex(policy)
  }

  package var current: RequestPolicy { policy.withLock { $0 } }

  /// Puts another policy in force, for requests that begin from now on.
  package func replace(with policy: RequestPolicy) {
    self.policy.withLock { $0 = policy }
  }
}
