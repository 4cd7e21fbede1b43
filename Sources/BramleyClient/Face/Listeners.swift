public import Foundation

// Who is told of what. Whoever listens is told how things stand when it is told, and not twice of the same: of changes in
// quick succession perhaps only the last.

/// What ``Auth/addStateDidChangeListener(_:)`` gives out to remove the listener with.
public typealias AuthStateDidChangeListenerHandle = any NSObjectProtocol & Sendable
/// What ``Auth/addIDTokenDidChangeListener(_:)`` gives out to remove the listener with.
public typealias IDTokenDidChangeListenerHandle = any NSObjectProtocol & Sendable

extension Notification.Name {
  /// Posted on the main actor, with the ``Auth`` as its object, when somebody else is signed in, or nobody.
  public static let AuthStateDidChange = Notification.Name("FIRAuthStateDidChangeNotification")
}

/// All who listen, in the order in which they came.
struct Listeners {
  final class Handle: NSObject, Sendable {}

  /// What a listener was told last.
  private struct Told: Sendable {
    let held: HeldSession?
    let session: StoredSession?
  }

  private struct Listening {
    let handle: Handle
    let isForTokens: Bool
    let listener: Auth.Listener
    var told: Told?
  }

  private var all: [Listening] = []
  /// Whether somebody is waiting for the store to be readable.
  var isWaiting = false

  mutating func add(_ listener: @escaping Auth.Listener, isForTokens: Bool) -> Handle {
    let handle = Handle()
    all.append(Listening(handle: handle, isForTokens: isForTokens, listener: listener))
    return handle
  }

  mutating func remove(_ handle: any NSObjectProtocol) { all.removeAll { $0.handle === handle } }

  var handles: [Handle] { all.map(\.handle) }

  /// The listener, if this is news to it; it then counts as told.
  mutating func telling(_ handle: Handle, of held: HeldSession?) -> Auth.Listener? {
    guard let index = all.firstIndex(where: { $0.handle === handle }) else { return nil }
    let session = all[index].isForTokens ? held?.session : nil
    if let told = all[index].told, told.held === held, told.session == session { return nil }
    all[index].told = Told(held: held, session: session)
    return all[index].listener
  }
}

extension Auth {
  /// Tells who is signed in: now, and whenever that is somebody else, or nobody.
  @discardableResult
  public func addStateDidChangeListener(_ listener: @escaping Listener) -> AuthStateDidChangeListenerHandle {
    add(listener, isForTokens: false)
  }

  /// Forgets a listener.
  public func removeStateDidChangeListener(_ handle: any NSObjectProtocol) {
    listeners.withLock { $0.remove(handle) }
  }

  /// The same, and whenever tokens or what is known of the person are renewed.
  @discardableResult
  public func addIDTokenDidChangeListener(_ listener: @escaping Listener) -> IDTokenDidChangeListenerHandle {
    add(listener, isForTokens: true)
  }

  /// Forgets a listener.
  public func removeIDTokenDidChangeListener(_ handle: any NSObjectProtocol) {
    removeStateDidChangeListener(handle)
  }

  /// Who is signed in, now and whenever that is somebody else, or nobody.
  public var authStateChanges: AsyncStream<User?> {
    AsyncStream { continuation in
      let handle = addStateDidChangeListener { _, user in continuation.yield(user) }
      continuation.onTermination = { [weak self] _ in self?.removeStateDidChangeListener(handle) }
    }
  }

  private func add(_ listener: @escaping Listener, isForTokens: Bool) -> AuthStateDidChangeListenerHandle {
    let handle = listeners.withLock { $0.add(listener, isForTokens: isForTokens) }
    Task { @MainActor in tell(handle) }
    return handle
  }

  func announce(isOtherPerson: Bool) {
    Task { @MainActor in
      for handle in listeners.withLock({ $0.handles }) { tell(handle) }
      if isOtherPerson { NotificationCenter.default.post(name: .AuthStateDidChange, object: self) }
    }
  }

  @MainActor private func tell(_ handle: Listeners.Handle) {
    // That nobody can read is not that nobody is there.
    guard keeper.isKnown else { return waitUntilKnown() }
    let held = keeper.current
    guard let listener = listeners.withLock({ $0.telling(handle, of: held) }) else { return }
    listener(self, held.map { User($0, keeper: keeper) })
  }

  private func waitUntilKnown() {
    let isFirst = listeners.withLock { listeners in
      defer { listeners.isWaiting = true }
      return !listeners.isWaiting
    }
    guard isFirst else { return }
    Task { [weak self, world = keeper.world] in
      var pause = 1.0
      // Does not keep it alive.
      while self.map({ !$0.keeper.isKnown }) == true {
        try? await world.sleep(pause)
        pause = min(pause * 2, 30)
      }
      self?.listeners.withLock { $0.isWaiting = false }
      self?.announce(isOtherPerson: false)
      await self?.start()
    }
  }

  /// Looks again as soon as the device is unlocked for the first time.
  func followUnlocking() {
    #if canImport(Security)
      // The name of UIKit's, which is not there on every system and not for every extension.
      _ = NotificationCenter.default.addObserver(
        forName: Notification.Name("UIApplicationProtectedDataDidBecomeAvailable"), object: nil, queue: nil
      ) { [weak self] _ in
        self?.announce(isOtherPerson: false)
        Task { [weak self] in await self?.start() }
      }
    #endif
  }
}
