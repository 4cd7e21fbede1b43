package import Foundation

/// What the kit takes from outside: time, chance, and what the device knows of a person. Tests bring their own.
package struct Surroundings: Sendable {
  /// The time of day, which people and networks set.
  package var now: @Sendable () -> Date
  /// Seconds on a clock that nobody sets: since the device was started, those that it slept included.
  package var steady: @Sendable () -> TimeInterval
  /// Waits so many seconds.
  package var sleep: @Sendable (TimeInterval) async throws -> Void
  /// A number from 0 up to 1, by chance.
  package var chance: @Sendable () -> Double
  /// What the device says of a person's consent, by Apple's subject; nil where there is nobody to ask.
  package var deviceState: (@Sendable (String) async throws -> CredentialState)?

  /// Takes all of it from somebody else than the device.
  package init(
    now: @escaping @Sendable () -> Date, steady: @escaping @Sendable () -> TimeInterval,
    sleep: @escaping @Sendable (TimeInterval) async throws -> Void, chance: @escaping @Sendable () -> Double,
    deviceState: (@Sendable (String) async throws -> CredentialState)? = nil
  ) {
    self.now = now
    self.steady = steady
    self.sleep = sleep
    self.chance = chance
    self.deviceState = deviceState
  }

  /// The device's own.
  package static let system = Surroundings(
    now: { Date() },
    steady: {
      #if canImport(Darwin)
        let clock = CLOCK_MONOTONIC_RAW
      #else
        let clock = CLOCK_BOOTTIME
      #endif
      var time = timespec()
      _ = unsafe clock_gettime(clock, &time)
      return TimeInterval(time.tv_sec) + TimeInterval(time.tv_nsec) / 1e9
    },
    sleep: { try await Task.sleep(for: .seconds($0)) },
    chance: { Double.random(in: 0..<1) },
    deviceState: CredentialState.ofDevice)
}
