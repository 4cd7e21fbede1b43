/// Between which versions a schema was brought up to date; equal when there was nothing to do.
package struct MigrationReport: Sendable, Equatable {
  /// What was found; zero for an empty database.
  package let from: Int64
  /// What is there now.
  package let to: Int64

  /// Puts the two together.
  package init(from: Int64, to: Int64) {
    self.from = from
    self.to = to
  }
}
