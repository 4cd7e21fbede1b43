internal import Foundation

/// A sign-in as it was sent: the same bytes are sent again until there is an answer.
struct Attempt: Codable, Sendable, Equatable {
  enum Purpose: Codable, Sendable, Equatable {
    case signIn
    /// To the account with this id.
    case link(uid: String)
    case reauthenticate(uid: String)
    /// One that cannot be asked for twice; the body only tells it from others.
    case once
  }

  /// Which beginning it is: after a sign-out, or another sign-in, the same one begins anew.
  let id: UUID
  let purpose: Purpose
  let body: Data
  let begunAt: Date
  /// The session token that a link was sent with. A repeat needs that very one, since the link has ended its session.
  var bearer: String?
  /// Refresh tokens of sessions that the service has ended since. The answer to a repeat may have been made before, and
  /// still bring one.
  var over: [String] = []

  init(purpose: Purpose, body: Data, begunAt: Date, id: UUID = UUID()) {
    (self.purpose, self.body, self.begunAt, self.id) = (purpose, body, begunAt, id)
  }

  /// Whether the service gives both the same answer.
  func isSame(as other: Attempt) -> Bool { purpose == other.purpose && body == other.body }

  /// Whose session it needs, where it is not to open one for whoever comes.
  var uid: String? {
    switch purpose {
    case .link(let uid), .reauthenticate(let uid): uid
    case .signIn, .once: nil
    }
  }

  /// Apple's tokens are good for an hour at most.
  func isWorthSending(at time: Date) -> Bool {
    purpose != .once && abs(time.timeIntervalSince(begunAt)) < 3600
  }

  /// Whether it is a link of a person's that the service has been sent: its session may be over by that.
  func isLinkOnItsWay(of uid: String, at time: Date) -> Bool {
    purpose == .link(uid: uid) && bearer != nil && isWorthSending(at: time)
  }
}
