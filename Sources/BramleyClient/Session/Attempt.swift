internal import Foundation

/// A sign-in as it was sent: the same bytes are sent again until there is an answer.
struct Attempt: Codable, Sendable, Equatable {
  enum Purpose: Codable, Sendable, Hashable {
    case signIn
    /// To the account with this id.
    case link(uid: String)
    case reauthenticate(uid: String)
    /// One that cannot be asked for twice; the body only tells it from others.
    case once
  }

  /// What makes two of them the same.
  struct Key: Hashable {
    let purpose: Purpose
    let body: Data
  }

  let purpose: Purpose
  let body: Data
  let begunAt: Date
  /// The session token that a link was sent with. A repeat needs that very one, since the link has ended its session.
  var bearer: String?

  init(purpose: Purpose, body: Data, begunAt: Date) {
    (self.purpose, self.body, self.begunAt) = (purpose, body, begunAt)
  }

  var key: Key { Key(purpose: purpose, body: body) }

  func isSame(as other: Attempt) -> Bool { key == other.key }

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
