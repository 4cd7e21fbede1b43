internal import HTTPServer
internal import Wire

/// What has to be there before sign-ins can succeed.
package struct Readiness: Sendable, Equatable {
  package let database: Bool
  package let signingKey: Bool
  package let appleKeys: Bool
  package let isShuttingDown: Bool

  package init(database: Bool, signingKey: Bool, appleKeys: Bool, isShuttingDown: Bool) {
    self.database = database
    self.signingKey = signingKey
    self.appleKeys = appleKeys
    self.isShuttingDown = isShuttingDown
  }

  /// The first thing that is missing.
  var missing: FailureReason? {
    if isShuttingDown { return .shuttingDown }
    if !database { return .storageUnavailable }
    if !signingKey { return .signingKeyUnavailable }
    return appleKeys ? nil : .appleKeysUnavailable
  }

  /// What is there, as JSON.
  var checks: [UInt8] {
    var out = JSONWriter(reserving: 64)
    out.member("database", database)
    out.member("signingKey", signingKey)
    out.member("appleKeys", appleKeys)
    return out.finish()
  }
}

/// `GET /livez` and `GET /readyz`.
struct Health: Sendable {
  let readiness: @Sendable () async -> Readiness

  /// The process answers: that is all a restart could mend.
  func live(_ call: Call) -> Response {
    var out = JSONWriter(reserving: 32)
    out.member("status", "ok")
    return .json(out.finish())
  }

  func ready(_ call: Call) async -> Response {
    let readiness = await readiness()
    if let missing = readiness.missing {
      return Failure(missing, beside: [Failure.Member("checks", json: readiness.checks)])
        .response(requestID: call.requestID, retryAfter: 1)
    }
    var out = JSONWriter(reserving: 128)
    out.member("status", "ready")
    out.member("checks", json: readiness.checks)
    return .json(out.finish())
  }
}
