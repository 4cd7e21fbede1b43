import Domain
import Synchronization

/// A clock that moves by hand: wall and steady time go together unless one is set.
package final class ManualClock: Sendable {
  private let seconds: Mutex<Int64>
  private let milliseconds: Mutex<Int64>

  package init(_ seconds: Int64 = 1_750_000_000) {
    self.seconds = Mutex(seconds)
    milliseconds = Mutex(0)
  }

  package var now: UnixTime { UnixTime(seconds.withLock { $0 }) }

  package var wall: WallClock { WallClock { self.now } }

  package var steady: SteadyClock {
    SteadyClock { SteadyTime(milliseconds: self.milliseconds.withLock { $0 }) }
  }

  /// Moves both clocks on.
  package func advance(_ duration: Int64) {
    seconds.withLock { $0 += duration }
    milliseconds.withLock { $0 += duration * 1000 }
  }

  /// Sets the wall clock alone, as an operator or a broken time server does.
  package func step(by duration: Int64) {
    seconds.withLock { $0 += duration }
  }
}

extension Entropy {
  /// The same bytes for the same seed (SplitMix64).
  package static func seeded(_ seed: UInt64) -> Entropy {
    let source = SeededSource(seed)
    return Entropy { source.bytes($0) }
  }
}

private final class SeededSource: Sendable {
  private let state: Mutex<SeededGenerator>

  init(_ seed: UInt64) { state = Mutex(SeededGenerator(seed)) }

  func bytes(_ count: Int) -> [UInt8] {
    state.withLock { generator in (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) } }
  }
}

/// SplitMix64: small, and the same everywhere.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  package init(_ seed: UInt64) { state = seed }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
