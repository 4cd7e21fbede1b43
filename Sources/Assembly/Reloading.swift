internal import API
internal import Domain
internal import Settings
internal import Synchronization
internal import Telemetry

/// What may change while the service runs: client ids, API keys, administrators, the keys of custom tokens, origins,
/// rates, trusted proxies and the log level.
final class Reloading: Sendable {
  let policies: PolicyHolder
  private let rates: Mutex<(Rates, RequestLimits)>
  /// As it was at the start, when it was held against the listeners that there are.
  private let isDevMode: Bool
  private let log: Log
  private let entropy: Entropy

  init(_ settings: Settings, log: Log, entropy: Entropy) {
    let limits = makeLimits(settings.rates, entropy)
    rates = Mutex((settings.rates, limits))
    isDevMode = settings.isDevMode
    policies = PolicyHolder(makePolicy(settings, limits, isDevMode: isDevMode))
    self.log = log
    self.entropy = entropy
  }

  /// Puts new settings in force. Rates that stay as they were keep what they have counted.
  func take(_ settings: Settings) {
    let limits = rates.withLock { kept in
      if kept.0 != settings.rates { kept = (settings.rates, makeLimits(settings.rates, entropy)) }
      return kept.1
    }
    policies.replace(with: makePolicy(settings, limits, isDevMode: isDevMode))
    log.threshold = settings.logLevel
  }
}

private func makeLimits(_ rates: Rates, _ entropy: Entropy) -> RequestLimits {
  RequestLimits(
    signIn: rates.signIn, refresh: rates.refresh, signUp: rates.signUp, clock: .system, entropy: entropy)
}

private func makePolicy(
  _ settings: Settings, _ limits: RequestLimits, isDevMode: Bool
) -> RequestPolicy {
  RequestPolicy(
    appleRules: settings.appleRules, apiKeys: settings.apiKeys, serviceKeys: settings.serviceKeys,
    adminTokens: settings.adminTokens,
    isDevMode: isDevMode, customTokenKeys: settings.customTokenKeys, allowedOrigins: settings.allowedOrigins,
    limits: limits, trustedProxies: settings.trustedProxies)
}
