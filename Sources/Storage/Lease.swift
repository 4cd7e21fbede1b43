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
}
