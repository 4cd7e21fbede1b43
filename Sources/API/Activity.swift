package import Domain
internal import Wire

/// How many sign-ins and refreshes there were, by outcome: the word of a success, or the reason of a refusal.
package struct ActivityCounts: Sendable, Equatable {
  package var signIns: [String: Int64]
  package var refreshes: [String: Int64]

  package init(signIns: [String: Int64] = [:], refreshes: [String: Int64] = [:]) {
    self.signIns = signIns
    self.refreshes = refreshes
  }

  var isEmpty: Bool { signIns.isEmpty && refreshes.isEmpty }

  /// What was added since these were less.
  func risen(since earlier: ActivityCounts) -> ActivityCounts {
    func risen(_ now: [String: Int64], _ then: [String: Int64]) -> [String: Int64] {
      now.merging(then) { $0 - $1 }.filter { $0.value > 0 }
    }
    return ActivityCounts(
      signIns: risen(signIns, earlier.signIns), refreshes: risen(refreshes, earlier.refreshes))
  }

  mutating func add(_ more: ActivityCounts) {
    signIns.merge(more.signIns, uniquingKeysWith: +)
    refreshes.merge(more.refreshes, uniquingKeysWith: +)
  }
}

/// What was counted in each of the last sixty minutes.
///
/// It is shown totals that only rise, as often as somebody likes, and keeps by how much they rose: whoever counts a
/// sign-in does nothing for it. There are at most sixty minutes, and in each at most the outcomes that totals can have.
package struct ActivityRecord: Sendable, Equatable {
  /// One minute, and what was counted in it.
  package struct Minute: Sendable, Equatable {
    /// Its first second.
    package let start: UnixTime
    package fileprivate(set) var counts = ActivityCounts()
  }

  /// When the counting began.
  package let since: UnixTime
  /// Oldest first, without those in which nothing was counted.
  package private(set) var minutes: [Minute] = []
  private var totals = ActivityCounts()

  package init(since: UnixTime) { self.since = since }

  /// Takes what was added to the totals since they were last shown for a part of this minute.
  package mutating func take(_ totals: ActivityCounts, at now: UnixTime) {
    var present = Minute(start: now - now.seconds % 60)
    // What lies ahead, of a clock that was set back, is as good as of now.
    while let last = minutes.last, last.start >= present.start {
      present.counts.add(last.counts)
      minutes.removeLast()
    }
    present.counts.add(totals.risen(since: self.totals))
    self.totals = totals
    if !present.counts.isEmpty { minutes.append(present) }
    minutes.removeAll { $0.start <= present.start - 3600 }
  }
}

extension ActivityRecord.Minute {
  /// Times are seconds since 1970.
  var json: [UInt8] {
    var out = JSONWriter(reserving: 256)
    out.member("at", start.seconds)
    out.member("newAccounts", counts.signIns["new_account"] ?? 0)
    out.member("returning", counts.signIns["returning"] ?? 0)
    out.member("repeated", counts.signIns["repeated"] ?? 0)
    out.member("refreshes", counts.refreshes["refreshed"] ?? 0)
    out.object("refusedSignIns") { out in appendRefusals(counts.signIns, to: &out) }
    out.object("refusedRefreshes") { out in appendRefusals(counts.refreshes, to: &out) }
    return out.finish()
  }

  private func appendRefusals(_ counts: [String: Int64], to out: inout JSONWriter) {
    for (outcome, count) in counts.sorted(by: { $0.key < $1.key })
    where FailureReason(rawValue: outcome) != nil {
      out.member(outcome, count)
    }
  }
}
