internal import Domain
internal import Wire

/// What the feed has said: a value without a clock, a lock or a network.
///
/// Holds nothing about tokens whose time is over, so that it is as large as the revocations of one token life.
struct RevocationList: Sendable {
  private struct AccountEntry {
    /// Tokens that were issued up to then are bad.
    var issuedUpTo: UnixTime
    var forgottenAt: UnixTime
  }

  private var sessions: [SessionID: UnixTime] = [:]
  private var accounts: [AccountID: AccountEntry] = [:]
  /// How far the feed was read; the issuer's own word.
  private(set) var cursor = "0"
  private var heardAt: SteadyTime?
  /// Whether an attempt to read the feed has ended, well or badly.
  private(set) var hasTried = false

  /// Whether a session's token is bad.
  func names(_ token: VerifiedSession) -> Bool {
    if sessions[token.session] != nil { return true }
    guard let entry = accounts[token.account] else { return false }
    return UnixTime(token.issuedAt) <= entry.issuedUpTo
  }

  /// Milliseconds since the feed was last read to its end; nil before the first time.
  func silence(at now: SteadyTime) -> Int64? { heardAt.map { now.milliseconds(since: $0) } }

  /// Takes in a page.
  ///
  /// - Parameter leeway: Seconds for which this verifier takes tokens after their `exp`.
  mutating func take(_ page: RevocationPage, at steady: SteadyTime, now: UnixTime, leeway: Int64) {
    hasTried = true
    for entry in page.entries {
      let forgottenAt = entry.expiresAt + leeway
      switch entry.subject {
      case .session(let id): sessions[id] = max(sessions[id] ?? forgottenAt, forgottenAt)
      case .restoredAccount(let id): accounts[id] = nil
      case .account(let id, let issuedUpTo):
        var known = accounts[id] ?? AccountEntry(issuedUpTo: issuedUpTo, forgottenAt: forgottenAt)
        known.issuedUpTo = max(known.issuedUpTo, issuedUpTo)
        known.forgottenAt = max(known.forgottenAt, forgottenAt)
        accounts[id] = known
      }
    }
    cursor = page.cursor
    if page.isLast { heardAt = steady }
    sessions = sessions.filter { $0.value > now }
    accounts = accounts.filter { $0.value.forgottenAt > now }
  }

  /// Notes that nothing usable came.
  mutating func attemptFailed() { hasTried = true }
}

/// One answer of the feed.
struct RevocationPage: Sendable {
  struct Entry: Sendable {
    enum Subject: Sendable {
      case session(SessionID)
      case account(AccountID, issuedUpTo: UnixTime)
      /// What was said of the account before does not hold any more.
      case restoredAccount(AccountID)
    }

    let subject: Subject
    let expiresAt: UnixTime
  }

  let entries: [Entry]
  let cursor: String
  /// Whether there was no more to tell.
  var isLast: Bool { entries.count < Limits.revocationPage }

  /// Nil for anything that is not wholly understood: an entry that was skipped would be a session that lives on.
  init?(parsing bytes: [UInt8]) {
    guard let object = try? JSONObject(parsing: bytes), let cursor = object.text("cursor"),
      case .array(let values) = object["revocations"]
    else { return nil }
    var entries: [Entry] = []
    for value in values {
      guard case .object(let member) = value, let entry = Entry(member) else { return nil }
      entries.append(entry)
    }
    self.entries = entries
    self.cursor = cursor
  }
}

extension RevocationPage.Entry {
  fileprivate init?(_ object: JSONObject) {
    guard case .integer(let expiresAt) = object["exp"] else { return nil }
    if let session = object.text("sid").flatMap(SessionID.init(hex:)) {
      subject = .session(session)
    } else if let account = object.text("sub").flatMap(AccountID.init),
      case .integer(let issuedUpTo) = object["iat"]
    {
      subject =
        issuedUpTo == 0
        ? .restoredAccount(account) : .account(account, issuedUpTo: UnixTime(issuedUpTo))
    } else {
      return nil
    }
    self.expiresAt = UnixTime(expiresAt)
  }
}
