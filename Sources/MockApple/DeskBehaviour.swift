/// How the stand-in's token and revocation endpoints answer. Each is something that Apple's has done, or that whoever
/// stands between could do.
package enum DeskBehaviour: String, Sendable, CaseIterable {
  case good
  /// 429.
  case throttled
  /// 503 with a page, as in outages; nothing is done.
  case unavailable
  /// 200 and a page; nothing is done.
  case page
  /// It is done, but the answer is a 503.
  case lost
  /// It is done, and the answer comes after the time that was set.
  case slow
  /// `invalid_client` for one call in so many as was set, as under load.
  case sporadic
  /// `invalid_client` for every call.
  case stranger
  /// Nobody is named on the way to another team: the app has gone, has not been accepted, or the 60 days are over.
  case closed
  /// The identity token that comes for a code is another person's.
  case misattributed
}
