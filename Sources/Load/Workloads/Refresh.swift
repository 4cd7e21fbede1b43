/// `POST /v1/token`: chains of refresh tokens, each request with the successor that the one before was answered.
struct RefreshWorkload: Workload {
  private let form: RequestForm
  private let collects: Bool
  /// The current refresh token of each chain. A slot has chains of its own, so that none is used twice at a time.
  private var chains: [[UInt8]]
  private let slots: Range<Int>
  /// The chain that each slot's request on its way is of.
  private var current: [Int]
  var findings = Findings()

  /// - Parameters:
  ///   - grants: All sessions; these slots take their share.
  ///   - collects: Whether the session tokens go into the findings.
  init(_ grants: [Grant], host: String, slots: Range<Int>, allSlots: Int, collects: Bool = false) {
    form = RequestForm("POST", "/v1/token", host: host, body: "application/x-www-form-urlencoded")
    // Chain n belongs to slot n modulo the number of slots; here they lie slot by slot.
    let rounds = max(1, grants.count / max(allSlots, 1))
    chains = (0..<rounds).flatMap { round in
      slots.compactMap { slot in
        let index = round * allSlots + slot
        return index < grants.count ? grants[index].refreshToken : nil
      }
    }
    self.slots = slots
    self.collects = collects
    current = slots.map { $0 - slots.lowerBound }
  }

  mutating func appendRequest(slot: Int, to buffer: inout [UInt8]) -> Bool {
    let place = slot - slots.lowerBound
    var chain = current[place] + slots.count
    if chain >= chains.count { chain = place }
    guard chain < chains.count else { return false }
    current[place] = chain
    form.append(to: &buffer, body: beforeRefreshToken, chains[chain][...])
    return true
  }

  mutating func took(_ answer: Answer, slot: Int) -> Outcome {
    guard answer.status == 200, let token = answer.member("refresh_token") else { return .bad }
    let chain = current[slot - slots.lowerBound]
    // In place: a new array for each answer would cost more than the rest.
    chains[chain].removeAll(keepingCapacity: true)
    chains[chain].append(contentsOf: token)
    if collects, let session = answer.member("id_token") {
      findings.collected.append(Grant(sessionToken: Array(session), refreshToken: []))
    }
    return .good
  }
}

private let beforeRefreshToken = piece("grant_type=refresh_token&refresh_token=")
