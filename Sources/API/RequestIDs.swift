internal import Domain
internal import Synchronization

/// Makes ids of requests: 32 hexadecimal digits that nobody has seen before.
///
/// Random bytes are drawn for many ids at a time: no secret hangs on an id, and a draw for each would cost more than
/// everything else that an answer from memory needs.
final class RequestIDs: Sendable {
  private let entropy: Entropy
  private let drawn = Mutex<ArraySlice<UInt8>>([])

  private static let byteCount = 16
  private static let drawnAtOnce = 256

  init(_ entropy: Entropy) {
    self.entropy = entropy
  }

  func next() -> String {
    drawn.withLock { drawn in
      if drawn.isEmpty { drawn = entropy.bytes(Self.byteCount * Self.drawnAtOnce)[...] }
      defer { drawn.removeFirst(Self.byteCount) }
      return hexText(drawn.prefix(Self.byteCount))
    }
  }
}
