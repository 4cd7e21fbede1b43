package import Domain
internal import Synchronization

/// Token buckets by key, in a table whose size is fixed: a million addresses cost what a hundred cost.
///
/// Each key has eight places in which its bucket may be. When all are taken, the fullest bucket gives way: the one
/// whose owner lost least. Somebody who floods from many addresses can so win back a few requests for himself; he
/// cannot make the table grow, and cannot make anybody else's bucket emptier.
package final class RateLimiter: Sendable {
  private struct Bucket {
    var key: UInt64 = 0
    /// Milliseconds of credit at `at`; a request costs `cost`.
    var credit: Int64 = 0
    var at: Int64 = 0
  }

  private static let ways = 8
  private let cost: Int64
  private let capacity: Int64
  private let sets: Int
  private let seed: UInt64
  private let buckets: Mutex<[Bucket]>

  /// - Parameters:
  ///   - rate: What each key may do.
  ///   - places: How many keys are remembered; a multiple of eight.
  ///   - seed: Random, so that nobody can choose keys that share a set.
  package init(rate: Rate, places: Int, seed: UInt64) {
    // Credit is time: a request costs the time in which it is earned again.
    cost = max(rate.period * 1000 / rate.count, 1)
    capacity = cost * rate.count
    sets = max(places / Self.ways, 1)
    self.seed = seed
    buckets = Mutex([Bucket](repeating: Bucket(), count: sets * Self.ways))
  }

  /// Takes one request's worth from the bucket of a key.
  ///
  /// - Returns: Nil when it was there, else the seconds after which it will be.
  package func take(_ key: [UInt8], at now: SteadyTime) -> Int64? {
    let hash = hash(key)
    let first = firstPlace(of: hash)
    return buckets.withLock { buckets in
      let place = place(of: hash, from: first, in: buckets, at: now)
      if buckets[place].key != hash {
        buckets[place] = Bucket(key: hash, credit: capacity, at: now.milliseconds)
      }
      let credit = self.credit(of: buckets[place], at: now)
      buckets[place].at = now.milliseconds
      guard credit >= cost else {
        buckets[place].credit = credit
        return (cost - credit + 999) / 1000
      }
      buckets[place].credit = credit - cost
      return nil
    }
  }

  /// Puts back what was taken for something that did not happen.
  package func giveBack(_ key: [UInt8], at now: SteadyTime) {
    let hash = hash(key)
    let first = firstPlace(of: hash)
    buckets.withLock { buckets in
      let place = place(of: hash, from: first, in: buckets, at: now)
      guard buckets[place].key == hash else { return }
      buckets[place].credit = min(credit(of: buckets[place], at: now) + cost, capacity)
      buckets[place].at = now.milliseconds
    }
  }

  /// Where the set of a key begins; from other bits than the one that marks a place as taken.
  private func firstPlace(of hash: UInt64) -> Int {
    Int((hash >> 1) % UInt64(sets)) * Self.ways
  }

  private func place(of hash: UInt64, from first: Int, in buckets: [Bucket], at now: SteadyTime) -> Int {
    let places = first..<(first + Self.ways)
    if let known = places.first(where: { buckets[$0].key == hash }) { return known }
    return places.max { credit(of: buckets[$0], at: now) < credit(of: buckets[$1], at: now) } ?? first
  }

  private func credit(of bucket: Bucket, at now: SteadyTime) -> Int64 {
    guard bucket.key != 0 else { return .max }
    return min(bucket.credit + max(now.milliseconds - bucket.at, 0), capacity)
  }

  private func hash(_ key: [UInt8]) -> UInt64 {
    var hasher = Hasher()
    hasher.combine(seed)
    hasher.combine(key)
    return UInt64(bitPattern: Int64(hasher.finalize())) | 1
  }
}
