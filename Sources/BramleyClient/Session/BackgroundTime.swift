internal import Foundation

/// Asks the system not to suspend the app for as long as something is under way that should come to its end: what the service
/// has answered, and no app has read, has to be asked for again. It is granted for half a minute or so, to extensions too.
struct BackgroundTime: Sendable {
  #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
    private let isOver = DispatchSemaphore(value: 0)

    /// - Parameter purpose: For the system's own log.
    init(_ purpose: String) {
      ProcessInfo.processInfo.performExpiringActivity(withReason: purpose) { [isOver] hasExpired in
        // The time lasts for as long as this does not return, on a thread of the system's. When it runs out, or there is
        // none, this is called with true, in the first case beside itself.
        if hasExpired { isOver.signal() } else { isOver.wait() }
      }
    }

    /// Gives the time back.
    func end() { isOver.signal() }
  #else
    init(_ purpose: String) {}

    func end() {}
  #endif
}
