/// A workload and what it was prepared with.
package enum WorkloadKind: Sendable {
  case signIn(AppleTokens)
  case refresh([Grant])
  /// - isOnce: Whether each token is asked about once only.
  case ask(TokenQuestion, [Grant], isOnce: Bool)
  /// `GET` of a path.
  case get(path: String)
  /// Requests of a size, to a path that answers 200.
  case filler(path: String, bytes: Int, hasBody: Bool)
  /// The first of these all the time.
  case replay(AppleTokens, isSpent: Bool)
  case race(AppleTokens)
  case firebase(AppleTokens)
  case mix([WeightedKind])
  /// Sign-ins and refreshes whose tokens go into the findings, to prepare another workload.
  case collectSignIns(AppleTokens)
  case collectRefreshes([Grant])

  /// One part of a mix.
  package struct WeightedKind: Sendable {
    package let kind: WorkloadKind
    package let weight: Int

    package init(kind: WorkloadKind, weight: Int) {
      self.kind = kind
      self.weight = weight
    }
  }

  /// Which connections of which thread a workload serves.
  struct Seat {
    let thread: Int
    let threads: Int
    let slots: Range<Int>
    let allSlots: Int
    let host: String
  }

  func workload(at seat: Seat) -> any Workload {
    func share(_ tokens: AppleTokens) -> TokenShare {
      TokenShare(tokens, thread: seat.thread, threads: seat.threads)
    }
    func refresh(_ grants: [Grant], collects: Bool) -> any Workload {
      RefreshWorkload(grants, host: seat.host, slots: seat.slots, allSlots: seat.allSlots, collects: collects)
    }
    switch self {
    case .signIn(let tokens): return SignInWorkload(share(tokens), host: seat.host)
    case .collectSignIns(let tokens): return SignInWorkload(share(tokens), host: seat.host, collects: true)
    case .refresh(let grants): return refresh(grants, collects: false)
    case .collectRefreshes(let grants): return refresh(grants, collects: true)
    case .ask(let question, let grants, let isOnce):
      return VerifyWorkload(
        question, grants, host: seat.host, thread: seat.thread, threads: seat.threads, isOnce: isOnce)
    case .get(let path): return PlainWorkload(path: path, host: seat.host)
    case .filler(let path, let bytes, let hasBody):
      return PlainWorkload(path: path, host: seat.host, bytes: bytes, hasBody: hasBody)
    case .replay(let tokens, let isSpent): return ReplayWorkload(tokens, isSpent: isSpent, host: seat.host)
    case .race(let tokens): return RaceWorkload(tokens, host: seat.host)
    case .firebase(let tokens): return FirebaseWorkload(share(tokens), host: seat.host, slots: seat.slots)
    case .mix(let parts):
      return MixWorkload(parts.map { ($0.kind.workload(at: seat), $0.weight) }, slots: seat.slots)
    }
  }
}
