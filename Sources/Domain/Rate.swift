/// A rate: so many at once, and so many again in each period.
package struct Rate: Sendable, Equatable {
  package let count: Int64
  /// Seconds.
  package let period: Int64

  package init(count: Int64, period: Int64) {
    self.count = count
    self.period = period
  }
}
