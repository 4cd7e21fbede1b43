internal import API
internal import AppleIdentity
internal import Domain
internal import Sessions
internal import Settings
internal import Storage
internal import Synchronization
internal import Telemetry

/// What may change while the service runs: client ids, the key for Apple, API keys, administrators, the keys of custom tokens, origins,
/// rates, trusted proxies and the log level.
final class Reloading: Sendable {
  let policies: PolicyHolder
  let apple: AppleAccess
  private let rates: Mutex<(Rates, RequestLimits)>
  /// As it was at the start, when it was held against the listeners that there are.
  private let isDevMode: Bool
  private let log: Log
  private let entropy: Entropy
  private let storage: any Storage
  private let issuer: SessionIssuer
  private let clock: WallClock

  /// - Parameter issuer: Its bell for Apple rings when calls that failed are to be tried again.
  init(
    _ settings: Settings, storage: any Storage, issuer: SessionIssuer, log: Log, entropy: Entropy,
    clock: WallClock
  ) {
    let limits = makeLimits(settings.rates, entropy)
    rates = Mutex((settings.rates, limits))
    isDevMode = settings.isDevMode
    policies = PolicyHolder(makePolicy(settings, limits, isDevMode: isDevMode))
    self.log = log
    self.entropy = entropy
    self.storage = storage
    self.issuer = issuer
    self.clock = clock
    apple = AppleAccess(settings)
  }

  /// Puts new settings in force. Rates that stay as they were keep what they have counted.
  func take(_ settings: Settings) {
    let limits = rates.withLock { kept in
      if kept.0 != settings.rates { kept = (settings.rates, makeLimits(settings.rates, entropy)) }
      return kept.1
    }
    // The policy last: whoever sees that it is in force sees the rest as well.
    log.threshold = settings.logLevel
    apple.take(settings)
    issuer.take(settings.developerTeams)
    policies.replace(with: makePolicy(settings, limits, isDevMode: isDevMode))
    Task {
      // What waits may have waited for these very settings.
      do throws(StorageError) {
        _ = try await storage.hastenAppleWork(nil, at: clock.now())
      } catch {
        log.warning("apple_queue_unreadable", [.text("cause", "\(error)")])
      }
      issuer.appleBell.ring()
    }
  }
}

extension Settings {
  /// Whose the apps are, and whose they were.
  var developerTeams: DeveloperTeams {
    DeveloperTeams(present: appleKey?.teamID, former: oldAppleKey?.teamID)
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
    appleRules: settings.appleRules, appleTeam: settings.appleKey?.teamID,
    revocationEndsSessions: settings.revalidationEndsSessions,
    deletionPolicy: settings.accountDeletedPolicy, apiKeys: settings.apiKeys,
    serviceKeys: settings.serviceKeys,
    adminTokens: settings.adminTokens,
    isDevMode: isDevMode, customTokenKeys: settings.customTokenKeys, allowedOrigins: settings.allowedOrigins,
    limits: limits, trustedProxies: settings.trustedProxies, returnURLs: settings.returnURLs)
}
