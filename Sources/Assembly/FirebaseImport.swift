package import API
package import Domain
package import Storage
package import Wire

/// Why an export could not be taken in. What had been taken in before stays.
package enum ImportFault: Error, Sendable, Equatable {
  /// The system's error number.
  case unreadable(Int32)
  /// It is no export, or broken off.
  case malformed(StreamFault)
  /// Nobody in it has an identity at Apple.
  case noAppleIDs
  case storage(StorageError)
}

/// What is to be done with an export.
package struct ImportOrder: Sendable {
  /// `-` for standard input.
  package let path: String
  package let format: ExportFormat
  /// Whether nothing is to be written.
  package let isTrial: Bool
  /// Users that were made or signed in before this are left out; nil for none.
  package let since: UnixTime?
  /// Whether an export in which nobody has an identity at Apple is taken all the same.
  package let admitsNoApple: Bool

  package init(path: String, format: ExportFormat, isTrial: Bool, since: UnixTime?, admitsNoApple: Bool) {
    self.path = path
    self.format = format
    self.isTrial = isTrial
    self.since = since
    self.admitsNoApple = admitsNoApple
  }
}

/// Takes the users of a Firebase export in, a batch at a time, beside running services. Each batch is one transaction,
/// and who is here already is not written again: a run that was stopped, however it was, has only to be begun again.
package struct FirebaseImport: Sendable {
  private let storage: any Storage
  private let sharesEmails: Bool
  private let halt: Halt
  private let clock: WallClock
  private let refuse: @Sendable (_ index: Int, ExportRefusal) -> Void

  /// - Parameters:
  ///   - linking: Whether several accounts may hold one address follows from it.
  ///   - refuse: Is told of each user that was not taken, and at which place it stood.
  package init(
    storage: any Storage, linking: AccountLinking, halt: Halt, clock: WallClock,
    refuse: @escaping @Sendable (Int, ExportRefusal) -> Void
  ) {
    self.storage = storage
    sharesEmails = linking == .off
    self.halt = halt
    self.clock = clock
    self.refuse = refuse
  }

  /// A user that waits for the next transaction.
  private struct Waiting {
    let index: Int
    let account: Account
    /// What the users before in the file make of it, which a trial has not written.
    let isRepeated: (account: Bool, email: Bool, subject: Bool)
  }

  private struct Run {
    var tally = ImportTally()
    var seen = SeenUsers()
    var waiting: [Waiting] = []
    /// Whether it is known that they are to be written.
    var isWanted: Bool
  }

  /// - Parameter progress: Is told after each batch how far it has come.
  package func run(
    _ order: ImportOrder, progress: (ImportTally) -> Void
  ) async throws(ImportFault) -> ImportTally {
    // A file is looked at first as far as it takes; of what comes only once, users are held back.
    if !order.admitsNoApple, !order.isTrial, order.path != "-" { try await demandAppleIDs(order) }
    var run = Run(isWanted: order.admitsNoApple || order.isTrial || order.path != "-")
    try await each(order) { lines throws(ImportFault) in
      for line in lines { take(line, order, &run) }
      if !run.isWanted, run.waiting.count > Limits.heldImports { throw .noAppleIDs }
      while run.isWanted, run.waiting.count >= Limits.importBatch, !halt.isSet {
        try await write(&run, order)
        progress(run.tally)
      }
      return !halt.isSet
    }
    guard run.isWanted || !run.tally.lacksAppleIDs else { throw .noAppleIDs }
    while !run.waiting.isEmpty, !halt.isSet {
      try await write(&run, order)
      progress(run.tally)
    }
    run.tally.isHalted = halt.isSet
    return run.tally
  }

  private func take(_ line: ExportLine, _ order: ImportOrder, _ run: inout Run) {
    run.tally.count(line)
    if line.hasAppleID == true { run.isWanted = true }
    switch line.user {
    case .failure(let refusal): refuse(line.index, refusal)
    case .success(let user):
      let repeated = run.seen.take(user)
      if repeated.email { run.tally.duplicateEmails += 1 }
      if repeated.subject { run.tally.duplicateAppleIDs += 1 }
      if let since = order.since, max(user.account.createdAt, user.account.lastSignInAt) < since {
        run.tally.older += 1
      } else {
        run.waiting.append(Waiting(index: line.index, account: user.account, isRepeated: repeated))
      }
    }
  }

  /// Writes the next batch, or says what that would come to.
  private func write(_ run: inout Run, _ order: ImportOrder) async throws(ImportFault) {
    let batch = Array(run.waiting.prefix(Limits.importBatch))
    let accounts = batch.map(\.account)
    var outcomes: [AccountImportOutcome]
    do throws(StorageError) {
      if order.isTrial {
        outcomes = try await storage.tryImport(of: accounts, sharingEmails: sharesEmails)
        for (place, user) in batch.enumerated() where outcomes[place] == .imported {
          outcomes[place] = outcome(ofTrial: user)
        }
      } else {
        let intent = AccountImportIntent(
          accounts: accounts, sharesEmails: sharesEmails, origin: Origin(actor: .command), now: clock.now())
        outcomes = try await patiently { () throws(StorageError) in try await storage.importAccounts(intent) }
      }
    } catch {
      throw .storage(error)
    }
    for (user, outcome) in zip(batch, outcomes) {
      run.tally.count(outcome)
      if let refusal = ExportRefusal(user.account.id, outcome) { refuse(user.index, refusal) }
    }
    run.waiting.removeFirst(batch.count)
  }

  /// What becomes of a user whom nobody here knows, when those before in the file have come in.
  private func outcome(ofTrial user: Waiting) -> AccountImportOutcome {
    if user.isRepeated.account {
      let isSame = user.isRepeated.subject || user.account.identity(at: appleProviderID) == nil
      return isSame ? .present : .idTaken
    }
    if user.isRepeated.subject { return .identityTaken }
    return user.isRepeated.email && !sharesEmails ? .emailTaken : .imported
  }

  /// Refuses an export in which nobody has an identity at Apple; who could not be taken in any case is told of first.
  private func demandAppleIDs(_ order: ImportOrder) async throws(ImportFault) {
    var tally = ImportTally()
    try await each(order) { lines throws(ImportFault) in
      for line in lines { tally.count(line) }
      return tally.lacksAppleIDs && !halt.isSet
    }
    guard tally.lacksAppleIDs, !halt.isSet else { return }
    try await each(order) { lines throws(ImportFault) in
      for line in lines { if case .failure(let refusal) = line.user { refuse(line.index, refusal) } }
      return !halt.isSet
    }
    throw .noAppleIDs
  }

  /// Reads to the end, or as long as it is wanted.
  private func each(
    _ order: ImportOrder, _ take: ([ExportLine]) async throws(ImportFault) -> Bool
  ) async throws(ImportFault) {
    let file = try read { () throws(ReadFault) in try ExportFile(order.path) }
    var reader = ExportReader(order.format, now: clock.now())
    while let bytes = try read(file.next) {
      guard try await take(try lines(&reader, bytes)) else { return }
    }
    _ = try await take(try ending(&reader))
  }

  private func read<Value>(_ file: () throws(ReadFault) -> Value) throws(ImportFault) -> Value {
    do {
      return try file()
    } catch {
      throw .unreadable(error.code)
    }
  }

  private func lines(
    _ reader: inout ExportReader, _ bytes: ArraySlice<UInt8>
  ) throws(ImportFault) -> [ExportLine] {
    do {
      return try reader.take(bytes)
    } catch {
      throw .malformed(error)
    }
  }

  private func ending(_ reader: inout ExportReader) throws(ImportFault) -> [ExportLine] {
    do {
      return try reader.end()
    } catch {
      throw .malformed(error)
    }
  }
}
