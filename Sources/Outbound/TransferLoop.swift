internal import CCurl
internal import Domain
internal import Threads

/// The thread that owns libcurl: it takes requests from an inbox and moves all transfers on together.
final class TransferLoop: Sendable {
  private let post: TransferInbox
  private let thread: DedicatedThread

  /// - Parameter limit: The most requests that may be unfinished at a time.
  init(limit: Int, userAgent: String, authorityFile: String?) throws(OutboundError) {
    guard let multi = MultiHandle() else { throw .libraryUnusable }
    let post = TransferInbox(limit: limit, multi: multi)
    do throws(ThreadError) {
      thread = try DedicatedThread(name: "outbound") {
        runTransfers(of: post, userAgent: userAgent, authorityFile: authorityFile)
      }
    } catch {
      switch error {
      case .notStarted(let code): throw .threadNotStarted(code: code)
      }
    }
    self.post = post
  }

  deinit { post.close() }

  /// Hands the exchange to the loop; nil, or why it is not taken.
  func submit(_ exchange: Exchange) -> FetchError? { post.add(exchange) }

  /// Tells the loop that nobody waits for the exchange any more.
  func drop(_ exchange: Exchange) { post.drop(exchange) }

  func stop() async {
    post.close()
    await thread.ended()
  }
}

/// What the other threads have left for the loop.
private final class TransferInbox: Sendable {
  private struct State: Sendable {
    var arriving: [Exchange] = []
    var dropped: [Exchange] = []
    var unfinished = 0
    var isOpen = true
  }

  struct Post: Sendable {
    let arriving: [Exchange]
    let dropped: [Exchange]
    let isOpen: Bool
  }

  let multi: MultiHandle
  private let limit: Int
  private let state = Monitor(State())

  init(limit: Int, multi: MultiHandle) {
    self.limit = limit
    self.multi = multi
  }

  func add(_ exchange: Exchange) -> FetchError? {
    let refusal: FetchError? = state.update { state in
      guard state.isOpen else { return .shuttingDown }
      // Too many at once: to the caller, a server that can't be reached just now; waiting in line here would
      // only use up the time that the request has.
      guard state.unfinished < limit else { return .couldNotConnect }
      state.unfinished += 1
      state.arriving.append(exchange)
      return nil
    }
    if refusal == nil { multi.wake() }
    return refusal
  }

  func drop(_ exchange: Exchange) {
    let mustWake = state.update { state in
      guard state.isOpen else { return false }
      state.dropped.append(exchange)
      return true
    }
    if mustWake { multi.wake() }
  }

  func close() {
    let wasOpen = state.update { state in
      defer { state.isOpen = false }
      return state.isOpen
    }
    if wasOpen { multi.wake() }
  }

  /// Everything that has come since the last call.
  func take() -> Post {
    state.update { state in
      let post = Post(arriving: state.arriving, dropped: state.dropped, isOpen: state.isOpen)
      state.arriving = []
      state.dropped = []
      return post
    }
  }

  /// Makes room for another exchange.
  func finished() {
    state.update { $0.unfinished -= 1 }
  }
}

/// The loop's body, on its thread from start to end.
private func runTransfers(of inbox: TransferInbox, userAgent: String, authorityFile: String?) {
  var flights = Flights(inbox: inbox, userAgent: userAgent, authorityFile: authorityFile)
  while true {
    let post = inbox.take()
    for exchange in post.dropped { flights.end(exchange, .failure(.shuttingDown)) }
    guard post.isOpen else {
      for exchange in post.arriving { exchange.finish(.failure(.shuttingDown)) }
      flights.endAll(.shuttingDown)
      return
    }
    for exchange in post.arriving { flights.start(exchange) }
    guard inbox.multi.perform() else {
      flights.endAll(.broken)
      continue
    }
    while let (transfer, code) = inbox.multi.nextFinished() {
      flights.end(transfer.exchange, transfer.outcome(code))
    }
    // The timeout is only for the case that nothing is going on: libcurl shortens it to its own deadlines.
    if !inbox.multi.poll(atMost: 60_000) { flights.endAll(.broken) }
  }
}

/// The transfers that libcurl holds; the table keeps each from before it is added until after it is removed.
private struct Flights {
  private let inbox: TransferInbox
  private let userAgent: String
  private let authorityFile: String?
  private var transfers: [ObjectIdentifier: Transfer] = [:]

  init(inbox: TransferInbox, userAgent: String, authorityFile: String?) {
    self.inbox = inbox
    self.userAgent = userAgent
    self.authorityFile = authorityFile
  }

  mutating func start(_ exchange: Exchange) {
    // One that was dropped while it waited needs no connection.
    guard !exchange.isFinished else { return inbox.finished() }
    guard let address = Address(url: exchange.request.url) else {
      exchange.finish(.failure(.addressNotAllowed))
      return inbox.finished()
    }
    guard
      let transfer = Transfer(exchange, to: address, userAgent: userAgent, authorityFile: authorityFile),
      inbox.multi.add(transfer)
    else {
      exchange.finish(.failure(.broken))
      return inbox.finished()
    }
    transfers[ObjectIdentifier(exchange)] = transfer
  }

  mutating func end(_ exchange: Exchange, _ outcome: Outcome) {
    guard let transfer = transfers.removeValue(forKey: ObjectIdentifier(exchange)) else { return }
    inbox.multi.remove(transfer)
    // Room first: a caller that is answered may ask again at once.
    inbox.finished()
    exchange.finish(outcome)
  }

  mutating func endAll(_ error: FetchError) {
    for transfer in transfers.values {
      inbox.multi.remove(transfer)
      inbox.finished()
      transfer.exchange.finish(.failure(error))
    }
    transfers = [:]
  }
}
