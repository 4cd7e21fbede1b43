internal import AppleIdentity
internal import Crypto
internal import Domain
internal import Outbound
package import Settings
package import Storage

/// Why people could not be moved to another developer team.
package enum TransferFault: Error, Sendable, Equatable {
  /// There is no key of the team that asks.
  case keyMissing
  /// Apple does not know us, in its word.
  case misconfigured(String)
  /// Apple gave no answer for too long; the word says what was met last.
  case unreachable(String)
  /// Apple refused everybody for a while, in this word.
  case refusesEverybody(String, TransferQuery.Half)
  case storage(StorageError)
  case start(StartFault)

  /// As that of a ``StartFault``.
  package var exitStatus: Int32 {
    switch self {
    case .keyMissing, .misconfigured: 78
    case .unreachable: 69
    case .refusesEverybody: 1
    case .storage(let error): StartFault.storage(error).exitStatus
    case .start(let fault): fault.exitStatus
    }
  }

  /// A sentence for an operator.
  package var sentence: String {
    switch self {
    case .keyMissing:
      "there is no key for Apple: BRAMLEY_APPLE_TEAM_ID, BRAMLEY_APPLE_KEY_ID and BRAMLEY_APPLE_PRIVATE_KEY are not set"
    case .misconfigured(let word):
      "Apple does not know us (\(word)): look at team id, key id, key and client ids, and whether the key is linked to "
        + "the app; what was done stays done"
    case .unreachable(let word):
      "Apple gives no answer (\(word)); what was done stays done, and the same command goes on"
    case .refusesEverybody(let word, let half):
      "Apple refuses one after the other (\(word)): "
        + (half == .toExport
          ? "nobody can be exported any more once the app has gone"
          : "nobody can be imported before the app has been accepted, nor when the 60 days are over")
        + "; those are kept as refused, and --retry-refused asks about them again"
    case .storage(let error): StartFault.storage(error).sentence
    case .start(let fault): fault.sentence
    }
  }
}

/// What a run came to.
package struct TransferTally: Sendable, Equatable {
  package var moved = 0
  package var refused = 0
  package var conflicts = 0
  /// People that went away, or came further by other means, while Apple was asked.
  package var overtaken = 0
  package var isHalted = false

  package init() {}

  package var asked: Int { moved + refused + conflicts + overtaken }

  mutating func count(_ outcome: TransferOutcome?) {
    switch outcome {
    case .moved: moved += 1
    case .refused: refused += 1
    case .conflict: conflicts += 1
    case .overtaken: overtaken += 1
    case nil: isHalted = true
    }
  }
}

/// What is to be done in a run.
package struct TransferOrder: Sendable {
  package let query: TransferQuery
  /// People that are asked about at most; nil for all.
  package let limit: Int?
  /// Seconds without any answer of Apple's after which it is given up.
  package let patience: Int64

  package init(query: TransferQuery, limit: Int?, patience: Int64) {
    self.query = query
    self.limit = limit
    self.patience = patience
  }
}

/// Moves people to another developer team, one half of the way: page by page, and eight at a time. What Apple says of
/// one is written before the next is asked about in his place, so that a run that was stopped, however it was, has only to
/// be begun again.
package struct AppleTransfer: Sendable {
  private let settings: Settings
  private let storage: any Storage
  private let halt: Halt
  private let complain: @Sendable (String) -> Void

  /// - Parameter complain: Is told what goes wrong and is waited out.
  package init(
    _ settings: Settings, storage: any Storage, halt: Halt, complain: @escaping @Sendable (String) -> Void
  ) {
    self.settings = settings
    self.storage = storage
    self.halt = halt
    self.complain = complain
  }

  private static let callLimit = 8
  /// Refusals in a row that are no people any more who took their consent back.
  private static let refusalLimit = 50

  /// - Parameter progress: Is told after each person how far it has come.
  package func run(
    _ order: TransferOrder, progress: (TransferTally) -> Void
  ) async throws(TransferFault) -> TransferTally {
    let clients = settings.appleRules.clients.keys.sorted { $0.text < $1.text }
    guard let key = settings.appleKey, let first = clients.first else { throw .keyMissing }
    let fetcher = try start { () throws(StartFault) in try makeFetcher() }
    let calls = TransferCalls(
      endpoints: AppleEndpoints(baseURL: settings.appleBaseURL, fetcher: fetcher, clock: .system), key: key,
      clients: clients, fallback: first, patience: order.patience, halt: halt, clock: .system,
      entropy: .system, complain: complain)
    let result = await moveAll(order, calls, progress)
    await fetcher.stop()
    return try result.get()
  }

  private func start<R>(_ make: () throws(StartFault) -> R) throws(TransferFault) -> R {
    do {
      return try make()
    } catch {
      throw .start(error)
    }
  }

  private func moveAll(
    _ order: TransferOrder, _ calls: TransferCalls, _ progress: (TransferTally) -> Void
  ) async -> Result<TransferTally, TransferFault> {
    var tally = TransferTally()
    var fault: TransferFault?
    var refusals = 0
    func take(_ result: Result<TransferOutcome?, TransferFault>) {
      switch result {
      case .success(let outcome):
        tally.count(outcome)
        progress(tally)
        refusals = outcome == .refused ? refusals + 1 : 0
        // Who asks again for those that were refused expects as much.
        guard refusals >= Self.refusalLimit, !order.query.retriesRefused else { return }
        if fault == nil { fault = .refusesEverybody(calls.lastRefusal, order.query.half) }
        halt.set()
      case .failure(let met):
        // The first is the cause; others may follow from it.
        if fault == nil { fault = met }
        halt.set()
      }
    }
    await withTaskGroup(of: Result<TransferOutcome?, TransferFault>.self) { group in
      var (begun, running) = (0, 0)
      var place: Subject?
      pages: while !halt.isSet {
        let page: [TransferItem]
        do throws(StorageError) {
          page = try await storage.transferPage(order.query, after: place, limit: Limits.transferPage)
        } catch {
          take(.failure(.storage(error)))
          break
        }
        guard let last = page.last else { break }
        place = last.subject
        for item in page {
          if begun == order.limit { break pages }
          if running == Self.callLimit, let result = await group.next() {
            running -= 1
            take(result)
          }
          if halt.isSet { break pages }
          (begun, running) = (begun + 1, running + 1)
          group.addTask { await halt.counting { await move(item, order.query, calls) } }
        }
      }
      for await result in group { take(result) }
    }
    tally.isHalted = tally.isHalted || halt.isSet
    return fault.map { .failure($0) } ?? .success(tally)
  }

  /// - Returns: Nil when it was halted before there was an answer.
  private func move(
    _ item: TransferItem, _ query: TransferQuery, _ calls: TransferCalls
  ) async -> Result<TransferOutcome?, TransferFault> {
    do throws(TransferFault) {
      switch query.half {
      case .toExport: return .success(try await export(item, query, calls))
      case .toImport: return .success(try await admit(item, calls))
      }
    } catch {
      return .failure(error)
    }
  }

  private func export(
    _ item: TransferItem, _ query: TransferQuery, _ calls: TransferCalls
  ) async throws(TransferFault) -> TransferOutcome? {
    let answer: TransferExport.Answer
    switch try await calls.transferSubject(of: item.subject, by: item.client, to: query.team) {
    case .given(let subject): answer = .transferSubject(subject)
    case .refused(let word): answer = .refused(word)
    case .halted: return nil
    }
    let export = TransferExport(
      subject: item.subject, query: query, answer: answer, now: WallClock.system.now())
    return try await written { () throws(StorageError) in
      try await storage.write(export, by: Origin(actor: .command))
    }
  }

  private func admit(
    _ item: TransferItem, _ calls: TransferCalls
  ) async throws(TransferFault) -> TransferOutcome? {
    guard let transferSubject = item.transferSubject else { return .overtaken }
    let answer: TransferImport.Answer
    switch try await calls.person(transferredAs: transferSubject, by: item.client) {
    case .given(let person):
      answer = .person(person.subject, relayAddress: person.isPrivateEmail ? person.email : nil)
    case .refused(let word): answer = .refused(word)
    case .halted: return nil
    }
    let arrival = TransferImport(
      subject: item.subject, transferSubject: transferSubject, answer: answer, now: WallClock.system.now())
    return try await written { () throws(StorageError) in
      try await storage.write(arrival, by: Origin(actor: .command))
    }
  }

  private func written(
    _ write: () async throws(StorageError) -> TransferOutcome
  ) async throws(TransferFault) -> TransferOutcome {
    do {
      return try await patiently(write)
    } catch {
      throw .storage(error)
    }
  }
}
