internal import AppleIdentity
internal import Settings
internal import Synchronization

/// What the settings say of calls to Apple; they may change while the service runs.
final class AppleAccess: Sendable {
  struct Terms: Sendable {
    /// Nil: nothing is asked of Apple but its keys.
    let key: TeamKey?
    let rules: IdentityTokenRules
    /// Whether sessions end when Apple says that the consent is gone.
    let endsSessions: Bool

    init(_ settings: Settings) {
      key = settings.appleKey
      rules = settings.appleRules
      endsSessions = settings.revalidationEndsSessions
    }
  }

  private let state: Mutex<Terms>

  init(_ settings: Settings) { state = Mutex(Terms(settings)) }

  var terms: Terms { state.withLock { $0 } }

  func take(_ settings: Settings) {
    let terms = Terms(settings)
    state.withLock { $0 = terms }
  }
}
