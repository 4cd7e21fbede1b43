import BramleyClient
import Foundation
import TestProcesses
import Testing

/// Where the session is kept, and who shares it.
@Suite(.timeLimit(.minutes(5))) struct StoreTests {
  /// A folder for one test.
  private func inFolder(_ body: (String) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("kit-\(UUID().uuidString)")
      .path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try await body(folder + "/below")
  }

  private func mode(_ path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
  }

  @Test func `the file is its owner's alone and is replaced as a whole`() async throws {
    try await inFolder { folder in
      let store = FileStore(path: folder + "/session")
      try store.update { #expect($0 == nil) }
      try store.update { $0 = Data("one".utf8) }
      let open = try FileHandle(forReadingFrom: URL(fileURLWithPath: folder + "/session"))
      try store.update { $0 = Data("another".utf8) }
      // Whoever had it open still reads what was there.
      #expect(try open.readToEnd() == Data("one".utf8))
      #expect(try FileStore(path: folder + "/session").update { $0 } == Data("another".utf8))
      #expect(try mode(folder + "/session") == 0o600)
      #expect(try mode(folder) == 0o700)
      try store.update { $0 = nil }
      #expect(!FileManager.default.fileExists(atPath: folder + "/session"))
      let left = try FileManager.default.contentsOfDirectory(atPath: folder)
      #expect(left == ["session.lock"])
    }
  }

  @Test func `a folder is no store, which does not pass, and its mode stays`() async throws {
    try await inFolder { folder in
      let store = FileStore(path: folder + "/session")
      try FileManager.default.createDirectory(
        atPath: folder + "/session", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755]
      )
      let fault = #expect(throws: (any Error).self) { try store.read() }
      #expect(store.mayPass(try #require(fault)) == false)
      #expect(try mode(folder + "/session") == 0o755)
    }
  }

  @Test func `a pipe is no store, and keeps nobody waiting`() async throws {
    try await inFolder { folder in
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      try #require(mkfifo(folder + "/session", 0o644) == 0)
      #expect(throws: (any Error).self) { try FileStore(path: folder + "/session").read() }
      #expect(try mode(folder + "/session") == 0o644)
    }
  }

  @Test func `a change that fails, and what a crash left behind, change nothing`() async throws {
    try await inFolder { folder in
      let store = FileStore(path: folder + "/session")
      try store.update { $0 = Data("one".utf8) }
      FileManager.default.createFile(atPath: folder + "/session.new", contents: Data("half".utf8))
      #expect(throws: CancellationError.self) {
        try store.update { value in
          value = nil
          throw CancellationError()
        }
      }
      #expect(try store.update { $0 } == Data("one".utf8))
      try store.update { $0 = Data("two".utf8) }
      #expect(try store.update { $0 } == Data("two".utf8))
    }
  }

  @Test func `changes at once through several stores on one file are none of them lost`() async throws {
    try await inFolder { folder in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<8 {
          group.addTask {
            try await onThread {
              let store = FileStore(path: folder + "/session")
              for _ in 0..<25 { try store.update { $0 = ($0 ?? Data()) + [1] } }
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(try FileStore(path: folder + "/session").update { $0?.count } == 200)
    }
  }

  @Test func `work that is to be done alone is not done twice at once`() async throws {
    try await inFolder { folder in
      let inside = Watched((now: 0, most: 0))
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<4 {
          group.addTask {
            try await FileStore(path: folder + "/session").alone {
              inside.update { ($0.now, $0.most) = ($0.now + 1, max($0.most, $0.now + 1)) }
              for _ in 0..<100 { await Task.yield() }
              inside.update { $0.now -= 1 }
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(inside.read(\.most) == 1)
    }
  }

  @Test func `two processes with one store refresh once, and neither is signed out`() async throws {
    try await inFolder { folder in
      let device = Device(store: FileStore(path: folder + "/session"))
      let (_, one) = try await device.signedIn()
      let other = try #require(device.app().currentUser)
      device.pass(3400)
      let first = try await one.getIDToken()
      #expect(try await other.getIDToken() == first)
      #expect(device.service.count("/v1/token") == 1)
      for _ in 0..<50 {
        _ = try await one.getIDToken(forcingRefresh: true)
        _ = try await other.getIDToken(forcingRefresh: true)
      }
      #expect(device.service.count("/v1/token") == 101)
    }
  }

  @Test func `R14 without a lock a token that another process has traded is no end`() async throws {
    let device = Device(store: MemoryStore())
    let (auth, one) = try await device.signedIn()
    let other = try #require(device.app().currentUser)
    device.pass(3400)
    // While the request of the one is on its way the other's is answered, and the service has no more of the first token.
    device.service.state.update {
      $0.meanwhile = {
        _ = try await other.getIDToken()
        device.service.play(.answer(400, "TOKEN_EXPIRED", reason: "session_ended"))
      }
    }
    _ = try await one.getIDToken()
    #expect(auth.currentUser == one)
    // The other's token is a good one.
    #expect(device.service.count("/v1/token") == 2)
  }

  @Test func `whoever signs out in one process is signed out in the other at its next refresh`() async throws
  {
    let device = Device()
    let (one, _) = try await device.signedIn()
    let other = device.app()
    let user = try #require(other.currentUser)
    try one.signOut()
    device.pass(3400)
    #expect(await fault { _ = try await user.getIDToken() }.code == .nullUser)
    #expect(other.currentUser == nil)
    #expect(device.service.count("/v1/token") == 0)
  }

  @Test func `whoever signs in in one process is signed in in the other, which tells it once`() async throws {
    let device = Device()
    let other = device.app()
    #expect(other.currentUser == nil)
    _ = try await device.signedIn()
    device.pass(1)
    let told = Watched<[String?]>([])
    other.addStateDidChangeListener { _, user in told.update { $0.append(user?.uid) } }
    #expect(other.currentUser?.uid == "person1")
    _ = try await told.first { $0.isEmpty ? nil : true }
    _ = try await other.currentUser?.getIDToken(forcingRefresh: true)
    try other.signOut()
    #expect(try await told.first { $0.count > 1 ? $0 : nil } == ["person1", nil])
  }

  @Test func `two processes that send the same sign-in again are both signed in`() async throws {
    let device = Device()
    device.service.play(.loseAnswer, .fail(.notConnectedToInternet))
    #expect(await fault { _ = try await device.app().signIn(with: credential()) }.code == .networkError)
    let (one, other) = (device.app(), device.app())
    device.service.state.update {
      $0.meanwhile = {
        #expect(try await other.resumeSignIn() != nil)
        _ = try await other.currentUser?.getIDToken(forcingRefresh: true)
      }
    }
    let user = try #require(try await one.resumeSignIn()).user
    #expect(user.refreshToken == other.currentUser?.refreshToken)
    #expect(device.service.state.read(\.sessions) == 1)
    #expect(device.service.count("/v1/signOut") == 0)
  }

  @Test func `a store that cannot be read signs nobody out`() async throws {
    let store = FailingStore()
    let device = Device(store: store)
    _ = try await device.signedIn()
    store.isUnreadable.update { $0 = true }
    let auth = device.app()
    #expect(auth.currentUser == nil)
    #expect(await fault { _ = try await auth.signIn(with: credential()) }.code == .keychainError)
    #expect(await fault { try auth.signOut() }.code == .keychainError)
    store.isUnreadable.update { $0 = false }
    #expect(auth.currentUser?.uid == "person1")
  }

  @Test func `a store that cannot be written after a refresh costs nobody the session`() async throws {
    let store = FailingStore()
    let device = Device(store: store)
    let (auth, user) = try await device.signedIn()
    store.isFull.update { $0 = true }
    for _ in 0..<3 {
      device.pass(3400)
      _ = try await user.getIDToken()
    }
    // Memory is one trade ahead of the store, and no more: the store's token is traded for the same successor each time.
    #expect(user.refreshToken == "refresh2")
    #expect(device.service.count("/v1/token") == 3)
    // A restart finds what the service still takes.
    #expect(try await device.app().currentUser?.getIDToken(forcingRefresh: true) != nil)
    store.isFull.update { $0 = false }
    _ = try await user.getIDToken(forcingRefresh: true)
    #expect(auth.currentUser == user)
    _ = try await device.app().currentUser?.getIDToken(forcingRefresh: true)
  }

  @Test(arguments: ["", "garbage", "{}", "[]", #"{"session":7}"#, #"{"endings":[],"session":{"uid":"x"}}"#])
  func `what the kit did not write is nobody`(_ text: String) async throws {
    let store = MemoryStore()
    try store.update { $0 = Data(text.utf8) }
    let device = Device(store: store)
    #expect(device.app().currentUser == nil)
    _ = try await device.signedIn()
    #expect(device.app().currentUser?.uid == "person1")
  }

  @Test(arguments: ["", "garbage", "[]", #"{"session":7}"#])
  func `a damaged file is made whole by the session in memory`(_ text: String) async throws {
    let store = MemoryStore()
    let device = Device(store: store)
    let (auth, user) = try await device.signedIn()
    try store.update { $0 = Data(text.utf8) }
    device.pass(2)
    #expect(auth.currentUser == user)
    _ = try await user.getIDToken(forcingRefresh: true)
    #expect(auth.currentUser == user)
    #expect(device.app().currentUser?.refreshToken == user.refreshToken)
  }

  @Test func `a sign-out that the service ordered holds although it could not be written`() async throws {
    let store = FailingStore()
    let device = Device(store: store)
    let (auth, user) = try await device.signedIn()
    store.isFull.update { $0 = true }
    device.pass(3700)
    device.service.play(.answer(400, "TOKEN_EXPIRED", reason: "session_revoked"))
    #expect(await fault { _ = try await user.getIDToken() }.code == .userTokenExpired)
    device.pass(2)
    #expect(auth.currentUser == nil)
    store.isFull.update { $0 = false }
    #expect(try await auth.signIn(with: credential()).user.uid == "person1")
  }

  @Test func `a relative path is one from where the program was started`() async throws {
    let name = "kit-\(UUID().uuidString)"
    let place = FileManager.default.currentDirectoryPath + "/" + name
    defer { for end in ["", ".lock"] { try? FileManager.default.removeItem(atPath: place + end) } }
    let store = FileStore(path: name)
    try store.update { $0 = Data("one".utf8) }
    #expect(try FileStore(path: place).read() == Data("one".utf8))
  }

  @Test func `a file that others may read is closed to them`() async throws {
    try await inFolder { folder in
      let store = FileStore(path: folder + "/session")
      try store.update { $0 = Data("one".utf8) }
      try FileManager.default.setAttributes(
        [.posixPermissions: 0o644], ofItemAtPath: folder + "/session")
      #expect(try store.read() == Data("one".utf8))
      #expect(try mode(folder + "/session") == 0o600)
    }
  }

  @Test(arguments: [true, false])
  func `a symbolic link is followed, also to where nothing is yet`(_ isThere: Bool) async throws {
    try await inFolder { folder in
      for name in ["/here", "/there"] {
        try FileManager.default.createDirectory(atPath: folder + name, withIntermediateDirectories: true)
      }
      if isThere { try FileStore(path: folder + "/there/session").update { $0 = Data("one".utf8) } }
      try FileManager.default.createSymbolicLink(
        atPath: folder + "/here/session", withDestinationPath: "../there/session")
      let store = FileStore(path: folder + "/here/session")
      #expect(try store.read() == (isThere ? Data("one".utf8) : nil))
      try store.update { $0 = Data("two".utf8) }
      #expect(try FileStore(path: folder + "/there/session").read() == Data("two".utf8))
      #expect(
        try FileManager.default.destinationOfSymbolicLink(atPath: folder + "/here/session")
          == "../there/session")
    }
  }

  @Test func `what is only looked at needs no lock`() async throws {
    try await inFolder { folder in
      let store = FileStore(path: folder + "/session")
      let during = try store.update { value in
        value = Data("one".utf8)
        return try store.read()
      }
      #expect(during == nil)
      let after = try store.update { _ in try store.read() }
      #expect(after == Data("one".utf8))
    }
  }

  /// Counts who looks.
  private final class Watching: SessionStore {
    let inner = MemoryStore()
    let looks = Watched(0)
    func update<R>(_ body: (inout Data?) throws -> R) throws -> R { try inner.update(body) }
    func read() throws -> Data? {
      looks.update { $0 += 1 }
      return try inner.read()
    }
  }

  @Test func `asking who is signed in reads the store once a second and no more`() async throws {
    let store = Watching()
    let device = Device(store: store)
    let auth = device.app()
    for second in 1...3 {
      for _ in 0..<100 { #expect(auth.currentUser == nil) }
      #expect(store.looks.read { $0 } == second)
      device.pass(1)
    }
  }
}
