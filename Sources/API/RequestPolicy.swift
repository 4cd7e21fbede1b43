package import AppleIdentity
package import Domain
internal import Synchronization

/// What may change while the service runs, as one value: a request sees all of the old or all of the new.
package final class RequestPolicy: Sendable {
  let appleRules: IdentityTokenRules
  let apiKeys: APIKeys
  let crossOrigin: CrossOriginPolicy
  let limits: RequestLimits
  let trustedProxies: [Network]

  package init(
    appleRules: IdentityTokenRules, apiKeys: [Secret<String>], allowedOrigins: [String],
    limits: RequestLimits, trustedProxies: [Network]
  ) {
    self.appleRules = appleRules
    self.apiKeys = APIKeys(apiKeys)
    crossOrigin = CrossOriginPolicy(allowed: allowedOrigins)
    self.limits = limits
    self.trustedProxies = trustedProxies
  }
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
