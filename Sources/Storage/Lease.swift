package import Domain

/// Work that one node at a time does; the others take over when its time has passed.
package struct Lease: Sendable, Equatable {
  package let name: String
  package let holder: String
  package let until: UnixTime

  package init(name: String, holder: String, until: UnixTime) {
    self.name = name
    self.holder = holder
    self.until = until
  }

  /// Seconds by which the clocks of nodes may differ.
  private static let leeway: Int64 = 60

  /// Whether nobody else can have the work while this one stands.
  ///
  /// One that ends later than one could that was taken now stands for nothing: the clock of its holder was ahead, or
  /// nobody of ours wrote it. The work would lie still until then, for all that anybody knows for ever.
  func keepsOut(_ other: Lease, at now: UnixTime) -> Bool {
    holder != other.holder && until > now && until <= other.until + Self.leeway
  }
}
