/// What an app says about the device that signs in: for the person's own list of sessions, never for a decision.
package struct Device: Sendable, Equatable {
  package let name: String?
  package let model: String?
  package let os: String?
  package let appVersion: String?

  package init(name: String?, model: String?, os: String?, appVersion: String?) {
    self.name = name.flatMap(Device.cleaned)
    self.model = model.flatMap(Device.cleaned)
    self.os = os.flatMap(Device.cleaned)
    self.appVersion = appVersion.flatMap(Device.cleaned)
  }

  package var isEmpty: Bool { name == nil && model == nil && os == nil && appVersion == nil }

  private static func cleaned(_ text: String) -> String? {
    cleanedText(text, characters: Limits.deviceBytes, bytes: Limits.deviceBytes)
  }
}

/// Why a session is over.
package enum SessionEnd: String, Sendable {
  /// The person signed out, or a limit on sessions ended it.
  case ended
  /// An operator or Apple ended it.
  case revoked
  /// A refresh token that had been replaced long ago was presented.
  case reused
}

/// One signed-in device. Its refresh tokens differ by a counter; none of them is stored.
package struct Session: Sendable, Equatable {
  package let id: SessionID
  package let account: AccountID
  /// `sign_in_provider` of its tokens.
  package let provider: String
  /// `auth_time` of its tokens.
  package let createdAt: UnixTime
  /// Nil rather than empty.
  package private(set) var device: Device?
  /// Claims of the custom token that opened the session, for all of its tokens: a JSON object.
  package let customClaims: String?
  /// Counter of the refresh token that is current.
  package var counter: UInt32
  /// The master key that the current token was made with; repeats are made with the same.
  package var masterKey: MasterKeyID
  /// When the counter last moved; the creation, at first.
  package var rotatedAt: UnixTime
  /// Rotations in a row in which the token before was presented late.
  package var lateRotations: Int
  /// Whether that has happened since the last rotation.
  package var isLateSinceRotation: Bool
  package private(set) var end: SessionEnd?
  package private(set) var endedAt: UnixTime?

  package init(
    id: SessionID, account: AccountID, provider: String, createdAt: UnixTime, device: Device?,
    customClaims: String? = nil, counter: UInt32 = 0, masterKey: MasterKeyID, rotatedAt: UnixTime,
    lateRotations: Int = 0,
    isLateSinceRotation: Bool = false, end: SessionEnd? = nil, endedAt: UnixTime? = nil
  ) {
    self.id = id
    self.account = account
    self.provider = provider
    self.createdAt = createdAt
    self.device = device.flatMap { $0.isEmpty ? nil : $0 }
    self.customClaims = customClaims
    self.counter = counter
    self.masterKey = masterKey
    self.rotatedAt = rotatedAt
    self.lateRotations = lateRotations
    self.isLateSinceRotation = isLateSinceRotation
    self.end = end
    self.endedAt = endedAt
  }

  /// The session is over. Nobody lists it any more, so what is known of the device goes.
  package mutating func finish(as end: SessionEnd, at now: UnixTime) {
    self.end = end
    endedAt = now
    device = nil
  }
}
