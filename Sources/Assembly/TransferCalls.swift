internal import AppleIdentity
internal import Domain
internal import Synchronization

/// Asks a long work to come to its end: what has begun is finished, nothing more is begun.
package final class Halt: Sendable {
  private let value = Atomic(false)
  private let begun = Atomic(0)

  package init() {}

  /// Whether somebody has asked.
  package var isSet: Bool { value.load(ordering: .relaxed) }
  /// Asks for it.
  package func set() { value.store(true, ordering: .relaxed) }

  /// How much has begun and is not finished.
  package var underWay: Int { begun.load(ordering: .relaxed) }

  /// Counts a piece of the work while it is under way.
  func counting<R>(_ piece: () async -> R) async -> R {
    begun.add(1, ordering: .relaxed)
    defer { begun.subtract(1, ordering: .relaxed) }
    return await piece()
  }
}

/// What Apple said of a person on the way from team to team.
enum TransferAnswer<Value: Sendable>: Sendable {
  case given(Value)
  /// Nothing for this person, in Apple's word: he took the consent back, or was never there.
  case refused(String)
  /// Nobody wants to know any more.
  case halted
}

/// Asks Apple about people on the way from team to team, each until there is an answer: what goes wrong between us and
/// Apple is no answer, and is waited out.
final class TransferCalls: Sendable {
  private let endpoints: AppleEndpoints
  private let key: TeamKey
  private let clients: Set<ClientID>
  private let fallback: ClientID
  private let patience: Int64
  private let halt: Halt
  private let clock: SteadyClock
  private let entropy: Entropy
  private let complain: @Sendable (String) -> Void
  private let tokens = Mutex<[ClientID: Access]>([:])
  private let lastAnswer: Mutex<SteadyTime>
  private let refusal = Mutex("")

  private final class Token: Sendable {
    let secret: Secret<String>
    let obtainedAt: SteadyTime

    init(_ secret: Secret<String>, obtainedAt: SteadyTime) {
      self.secret = secret
      self.obtainedAt = obtainedAt
    }
  }

  /// An access token that is here, or that one call fetches for all who wait for it.
  private enum Access: Sendable {
    case held(Token)
    case awaited(Task<Result<Token, AppleFault>, Never>)
  }

  /// Seconds after which an access token is not used any more, of the hour that it lives.
  private static let tokenSeconds: Int64 = 3000
  /// Seconds for which a refusal is taken for one of the person and not of the token.
  private static let freshSeconds: Int64 = 600
  private static let longestPause = 30.0

  /// - Parameters:
  ///   - clients: Those that a person may be asked about by; the first where nobody knows better.
  ///   - patience: Seconds without any answer of Apple's after which it is given up.
  ///   - complain: Is told what is waited for.
  init(
    endpoints: AppleEndpoints, key: TeamKey, clients: [ClientID], fallback: ClientID, patience: Int64,
    halt: Halt, clock: SteadyClock, entropy: Entropy, complain: @escaping @Sendable (String) -> Void
  ) {
    self.endpoints = endpoints
    self.key = key
    self.clients = Set(clients)
    self.fallback = fallback
    self.patience = patience
    self.halt = halt
    self.clock = clock
    self.entropy = entropy
    self.complain = complain
    lastAnswer = Mutex(clock.now())
  }

  /// Apple's word for the last refusal.
  var lastRefusal: String { refusal.withLock { $0 } }

  /// Who a person of our team is on the way to another.
  func transferSubject(
    of item: Subject, by client: ClientID?, to target: TeamID
  ) async throws(TransferFault) -> TransferAnswer<Subject> {
    try await answer(by: client) { (token, client) throws(AppleFault) in
      try await self.endpoints.transferSubject(
        of: item, to: target, with: token, for: client, by: self.key)
    }
  }

  /// Who a person on the way is at our team.
  func person(
    transferredAs subject: Subject, by client: ClientID?
  ) async throws(TransferFault) -> TransferAnswer<TransferredPerson> {
    try await answer(by: client) { (token, client) throws(AppleFault) in
      try await self.endpoints.person(transferredAs: subject, with: token, for: client, by: self.key)
    }
  }

  /// - Parameter wanted: The client that the person signed in to.
  private func answer<Value: Sendable>(
    by wanted: ClientID?, _ call: (Secret<String>, ClientID) async throws(AppleFault) -> Value
  ) async throws(TransferFault) -> TransferAnswer<Value> {
    let client = wanted.flatMap { clients.contains($0) ? $0 : nil } ?? fallback
    var attempts = 0
    var streak = StrangerStreak()
    while !halt.isSet {
      let fault: AppleFault
      switch await once(client, call) {
      case .success(let answer):
        lastAnswer.withLock { $0 = clock.now() }
        return answer
      case .failure(let met): fault = met
      }
      guard !streak.note(fault) else { throw .misconfigured(fault.label) }
      let silence = clock.now().milliseconds(since: lastAnswer.withLock { $0 }) / 1000
      guard silence < patience else { throw .unreachable(fault.label) }
      complain(fault.label)
      await pause(attempts)
      attempts += 1
    }
    return .halted
  }

  /// One attempt; under an old access token a refusal is asked for once more under a new one.
  private func once<Value: Sendable>(
    _ client: ClientID, _ call: (Secret<String>, ClientID) async throws(AppleFault) -> Value
  ) async -> Result<TransferAnswer<Value>, AppleFault> {
    while true {
      let token: Token
      do throws(AppleFault) {
        token = try await self.token(for: client)
      } catch {
        return .failure(error)
      }
      do throws(AppleFault) {
        return .success(.given(try await call(token.secret, client)))
      } catch {
        let isFresh = clock.now().milliseconds(since: token.obtainedAt) / 1000 < Self.freshSeconds
        switch error {
        case .grantRefused where isFresh, .misconfigured(.invalidRequest) where isFresh:
          refusal.withLock { $0 = error.label }
          return .success(.refused(error.label))
        case .grantRefused, .misconfigured(.invalidRequest): forget(token, of: client)
        default:
          forget(token, of: client)
          return .failure(error)
        }
      }
    }
  }

  private func token(for client: ClientID) async throws(AppleFault) -> Token {
    let now = clock.now()
    let access = tokens.withLock { tokens in
      switch tokens[client] {
      case .held(let token)? where now.milliseconds(since: token.obtainedAt) / 1000 < Self.tokenSeconds:
        return Access.held(token)
      case .awaited(let fetch)?: return .awaited(fetch)
      case .held?, nil:
        let fetch = Access.awaited(Task { await self.fetchToken(for: client) })
        tokens[client] = fetch
        return fetch
      }
    }
    switch access {
    case .held(let token): return token
    case .awaited(let fetch): return try await fetch.value.get()
    }
  }

  private func fetchToken(for client: ClientID) async -> Result<Token, AppleFault> {
    do throws(AppleFault) {
      let token = Token(
        try await endpoints.migrationToken(for: client, by: key), obtainedAt: clock.now())
      tokens.withLock { $0[client] = .held(token) }
      return .success(token)
    } catch {
      tokens.withLock { $0[client] = nil }
      return .failure(error)
    }
  }

  /// Forgets a token that may be bad, and no other that has come in its place.
  private func forget(_ token: Token, of client: ClientID) {
    tokens.withLock { tokens in
      if case .held(let held)? = tokens[client], held === token { tokens[client] = nil }
    }
  }

  /// A second at first, half a minute at last, never two the same; shorter when nobody wants to wait any more.
  private func pause(_ attempts: Int) async {
    let jitter = Double(entropy.bytes(1).first ?? 0) / 255
    let seconds = min(Double(1 << min(attempts, 10)), Self.longestPause) * (0.8 + 0.4 * jitter)
    let end = clock.now().milliseconds + Int64(seconds * 1000)
    while !halt.isSet, clock.now().milliseconds < end {
      try? await Task.sleep(for: .milliseconds(100))
    }
  }
}
