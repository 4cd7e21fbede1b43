internal import Crypto
internal import Domain
internal import Glibc
package import Load
internal import SQLiteStorage
internal import Storage

/// Appends a page and syncs it, again and again: what one commit alone costs on this file system.
package func measureAppend(in parent: String, seconds: Double, stop: StopFlag) throws(LoadError) -> Figure {
  guard let folder = makeFolder(in: parent) else { throw .unavailable("cannot make a folder in \(parent)") }
  defer { removeFolder(folder) }
  let file = unsafe open(folder + "/append", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
  guard file >= 0 else { throw .unavailable("cannot write in \(parent)") }
  defer { close(file) }
  let page = [UInt8](repeating: 1, count: 4096)
  let (start, cpu) = (steadyNanoseconds(), threadNanoseconds())
  var count = 0
  while steadyNanoseconds() - start < Int(seconds * 1e9), !stop.isSet {
    guard unsafe write(file, page, page.count) == page.count, fdatasync(file) == 0 else {
      throw .unavailable("cannot sync a file in \(parent)")
    }
    count += 1
  }
  return Figure(
    name: "append of 4 KiB, synced", callers: 1,
    microseconds: Double(threadNanoseconds() - cpu) / Double(max(count, 1)) / 1000,
    perSecond: Double(count) / Double(steadyNanoseconds() - start) * 1e9)
}

/// Sign-ins and then refreshes through SQLite's group commit, without HTTP and cryptography around them.
package func measureGroupCommit(
  in parent: String, callers: Int, seconds: Double, stop: StopFlag
) throws(LoadError) -> [Figure] {
  try waiting { () async throws(LoadError) in try await groupCommit(in: parent, callers, seconds, stop) }
}

private func groupCommit(
  in parent: String, _ callers: Int, _ seconds: Double, _ stop: StopFlag
) async throws(LoadError) -> [Figure] {
  guard let folder = makeFolder(in: parent) else { throw .unavailable("cannot make a folder in \(parent)") }
  defer { removeFolder(folder) }
  let storage: SQLiteStorage
  do {
    storage = try SQLiteStorage(path: folder + "/ceiling.db")
  } catch {
    throw .unavailable("SQLite cannot work in \(parent)")
  }
  let opened = await repeated(callers, seconds, stop) { caller, number in
    guard case .signedIn(let grant, _)? = try? await storage.signIn(signInIntent(caller, number)) else {
      return nil
    }
    return grant.session.id
  }
  let sessions = opened.last
  let refreshed = await repeated(callers, seconds, stop) { caller, number in
    guard let session = sessions[caller] else { return nil }
    let intent = RefreshIntent(
      session: session, counter: UInt32(number), masterKey: ceilingKey,
      limits: SessionLimits(idle: 3600, absolute: 36_000, retryWindow: 120), origin: Origin(actor: .person),
      now: systemClock.now())
    guard case .current? = try? await storage.refresh(intent) else { return nil }
    return session
  }
  await storage.stop()
  guard opened.count > 0, refreshed.count > 0 else { throw .unavailable("SQLite cannot commit in \(parent)") }
  return [
    opened.figure("group commit of sign-ins", callers),
    refreshed.figure("group commit of refreshes", callers),
  ]
}

private struct Repetition {
  var count = 0
  var cpu = 0
  var wall = 1
  /// The last session of each caller.
  var last: [SessionID?] = []

  func figure(_ name: String, _ callers: Int) -> Figure {
    Figure(
      name: name, callers: callers, microseconds: Double(cpu) / Double(max(count, 1)) / 1000,
      perSecond: Double(count) / Double(wall) * 1e9)
  }
}

/// Does something with so many callers at a time, each of whom waits for its answer.
private func repeated(
  _ callers: Int, _ seconds: Double, _ stop: StopFlag,
  _ once: @escaping @Sendable (_ caller: Int, _ number: Int) async -> SessionID?
) async -> Repetition {
  let (start, cpu) = (steadyNanoseconds(), processNanoseconds(of: getpid()) ?? 0)
  let end = start + Int(seconds * 1e9)
  var result = Repetition()
  result.last = Array(repeating: nil, count: callers)
  await withTaskGroup(of: (Int, Int, SessionID?).self) { group in
    for caller in 0..<callers {
      group.addTask {
        var count = 0
        var last: SessionID?
        while steadyNanoseconds() < end, !stop.isSet {
          guard let session = await once(caller, count) else { break }
          last = session
          count += 1
        }
        return (caller, count, last)
      }
    }
    for await (caller, count, last) in group {
      result.count += count
      result.last[caller] = last
    }
  }
  result.cpu = (processNanoseconds(of: getpid()) ?? 0) - cpu
  result.wall = max(1, steadyNanoseconds() - start)
  return result
}

private let ceilingKey = MasterKeyID(prefixOf: [UInt8](repeating: 1, count: 8))

private func signInIntent(_ caller: Int, _ number: Int) -> SignInIntent {
  let (now, entropy) = (systemClock.now(), Entropy.system)
  return SignInIntent(
    identity: ProviderIdentity(
      provider: "apple.com", subject: Subject(unchecked: benchSubject((number * 64 + caller) % 10_000))),
    profile: .empty, name: nil, device: nil,
    credential: CredentialKey(stamp: now, digest: entropy.bytes(32)), credentialExpiresAt: now + 3600,
    challenge: nil, objection: nil, link: nil, linking: .off, isPending: false, createsAccount: true,
    newAccount: AccountID(from: entropy), newSession: SessionID(at: now, from: entropy),
    masterKey: ceilingKey,
    rules: SessionOpeningRules(maximum: 0), origin: Origin(actor: .person), retryWindow: 120, now: now)
}

/// Fills a database with accounts that have no session, as an import would.
func fillAccounts(_ count: Int, in path: String) throws(LoadError) {
  try waiting { () async throws(LoadError) in try await fill(count, path) }
}

private func fill(_ count: Int, _ path: String) async throws(LoadError) {
  do {
    let storage = try SQLiteStorage(path: path)
    let (now, entropy) = (systemClock.now(), Entropy.system)
    for start in stride(from: 0, to: count, by: 1000) {
      let accounts = (start..<min(start + 1000, count)).map { number in
        Account(
          id: AccountID(from: entropy), createdAt: now, lastSignInAt: now, isDisabled: false,
          profile: Profile(
            email: EmailAddress("person\(number)@privaterelay.appleid.com"), isEmailVerified: true,
            isPrivateEmail: true, realUserStatus: .likelyReal),
          name: nil,
          identities: [
            LinkedIdentity(
              ProviderIdentity(provider: "apple.com", subject: Subject(unchecked: benchSubject(number))))
          ])
      }
      _ = try await storage.create(
        accounts, sharingEmails: true, areImported: false, by: Origin(actor: .system), at: now)
      showProgress("accounts: \(start) of \(count)")
    }
    showProgress("")
    await storage.stop()
  } catch {
    throw .unavailable("cannot fill \(path) with accounts")
  }
}
