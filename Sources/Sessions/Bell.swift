/// Wakes one listener; what rings while it is busy is one ring more.
package final class Bell: Sendable {
  /// For the one who listens.
  package let rings: AsyncStream<Void>
  private let striker: AsyncStream<Void>.Continuation

  package init() {
    (rings, striker) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  /// Waits for nobody.
  package func ring() { striker.yield() }
}
