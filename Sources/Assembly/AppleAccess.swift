internal import AppleIdentity
internal import Domain
internal import Settings
internal import Synchronization

/// What the settings say of calls to Apple; they may change while the service runs.
final class AppleAccess: Sendable {
  struct Terms: Sendable {
    /// Of the team whose the apps are, and of the one whose they were, as far as there are keys.
    private let keys: [TeamKey]
    let rules: IdentityTokenRules
    /// Whether sessions end when Apple says that the consent is gone.
    let endsSessions: Bool

    init(_ settings: Settings) {
      keys = [settings.appleKey, settings.oldAppleKey].compactMap(\.self)
      rules = settings.appleRules
      endsSessions = settings.revalidationEndsSessions
    }

    /// Whether anything is asked of Apple but its keys.
    var hasKey: Bool { !keys.isEmpty }

    /// The key by which what a team got is looked after. What names no team is the present one's.
    func key(of team: TeamID?) -> TeamKey? {
      guard let team else { return keys.first }
      return keys.first { $0.teamID == team }
    }

    /// The key by which a refresh token is looked at. Of what a team got that the app has left nobody can say by that
    /// team's key whether the person still allows the app anything.
    func keyForLook(at team: TeamID?) -> TeamKey? {
      keys.first.flatMap { $0.teamID == team ?? firstTeam ? $0 : nil }
    }

    /// Whose those tokens and calls are that were kept before they named a team: from before a transfer, if there is one.
    var firstTeam: TeamID? { keys.last?.teamID }
  }

  private let state: Mutex<Terms>

  init(_ settings: Settings) { state = Mutex(Terms(settings)) }

  var terms: Terms { state.withLock { $0 } }

  func take(_ settings: Settings) {
    let terms = Terms(settings)
    state.withLock { $0 = terms }
  }
}
