internal import Domain
internal import HTTPServer
internal import Storage
internal import Wire

/// `GET /v1/admin/activity` and `GET /v1/admin/queues`: how this node does, and what waits.
struct NodeOverview: Sendable {
  let storage: any Storage
  let metrics: APIMetrics
  let readiness: @Sendable () async -> Readiness
  /// The time of day.
  let now: @Sendable () -> UnixTime

  /// What this node did in the last sixty minutes; it reads nothing of the database, so that it is there in an outage too.
  func activity(_ call: Call) async -> Response {
    let (now, readiness) = (now(), await readiness())
    let record = metrics.activity(at: now)
    var out = JSONWriter(reserving: 256 * (record.minutes.count + 1))
    out.member("since", record.since.seconds)
    out.member("now", now.seconds)
    out.member("checks", json: readiness.checks)
    out.member("minutes", jsonArray: record.minutes.map(\.json))
    return .json(out.finish())
  }

  /// What waits, whoever of the nodes does it, without whose it is.
  func queues(_ call: Call) async throws(Failure) -> Response {
    let (work, agenda, webhooks) = try await stored { () throws(StorageError) in
      (
        try await storage.appleWorkCounts(), try await storage.appleAgenda(),
        try await storage.webhookCounts()
      )
    }
    var out = JSONWriter(reserving: 512)
    out.object("apple") { out in
      out.member("hasKey", call.policy.hasAppleKey)
      out.member("calls", jsonArray: AppleWork.Kind.allCases.map { $0.json(work) })
      if let time = agenda.workDueAt { out.member("nextCallAt", time.seconds) }
      if let time = agenda.grantDueAt { out.member("nextCheckAt", time.seconds) }
      if let time = agenda.pausedUntil, time > now() { out.member("checksPausedUntil", time.seconds) }
    }
    out.object("webhooks") { out in
      out.member("waiting", Int64(webhooks.waiting))
      out.member("givenUp", Int64(webhooks.dead))
      if let time = webhooks.oldest { out.member("oldestAt", time.seconds) }
    }
    return .json(out.finish())
  }
}

extension AppleWork.Kind {
  fileprivate func json(_ counts: [AppleWorkCount]) -> [UInt8] {
    let count = counts.first { $0.kind == self }
    var out = JSONWriter(reserving: 64)
    out.member("kind", rawValue)
    out.member("waiting", Int64(count?.count ?? 0))
    if let count { out.member("oldestAt", count.oldest.seconds) }
    return out.finish()
  }
}
