internal import AppleIdentity
internal import Domain
internal import HTTPServer
internal import ProviderTokens
internal import Sessions
internal import Storage
internal import Telemetry
internal import Wire

/// `POST /v1/apple/notifications`: what Apple tells of people without being asked. Whoever calls is nobody; what counts is
/// the signature of what he brings.
struct AppleNotifications: Sendable {
  let directory: KeyDirectory
  let storage: any Storage
  let watch: SessionWatch
  let clock: WallClock
  let log: Log
  let metrics: APIMetrics

  /// The answer is 200 for all that Apple need not send again: what was understood, what had come before, and what is
  /// about nobody here.
  func respond(to call: Call) async throws(Failure) -> Response {
    guard let payload = try call.request.jsonBody().field(text: "payload") else {
      throw Failure(.fieldMissing, field: "payload")
    }
    let rules = call.policy.appleRules
    let notification = try await verified(payload, rules: rules)
    let intent = AppleNotificationIntent(
      digest: notification.digest, expiresAt: notification.endOfUse(leeway: rules.leeway),
      events: notification.events, endsSessions: call.policy.revocationEndsSessions,
      deletion: call.policy.deletionPolicy, origin: call.origin(.apple), now: clock.now())
    let outcome = try await stored { () throws(StorageError) in try await storage.take(intent) }
    switch outcome {
    case .duplicate:
      metrics.countNotification("duplicate")
      log.info("apple_notification", [.text("outcome", "duplicate"), .text("requestId", call.requestID)])
    case .taken(let outcomes):
      await watch.followOwnWrite()
      for (event, outcome) in zip(notification.events, outcomes) { report(event, outcome, call) }
    }
    return .json(Array("{}".utf8))
  }

  private func verified(
    _ payload: String, rules: IdentityTokenRules
  ) async throws(Failure) -> VerifiedNotification {
    do {
      let parsed = try UnverifiedNotification(parsing: payload, rules: rules)
      let key = try await directory.key(parsed.keyID)
      return try parsed.verified(by: key, rules: rules, now: clock.now())
    } catch {
      if error == .keyUnknown { metrics.unknownKeyIDs.add() }
      let reason = FailureReason(error)
      metrics.countNotification(reason.rawValue)
      throw Failure(reason)
    }
  }

  private func report(_ event: AppleEvent, _ outcome: AppleEventOutcome, _ call: Call) {
    let type: String
    switch event {
    case .change(let change, _, _, _): type = change.rawValue
    case .unknown(let word, _): type = word
    }
    metrics.countNotification(outcome.rawValue)
    log.info(
      "apple_notification",
      [
        .text("type", type), .text("outcome", outcome.rawValue), .text("requestId", call.requestID),
      ])
  }
}
