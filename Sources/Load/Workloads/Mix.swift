/// Several workloads at once, each as often as its weight says.
struct MixWorkload: Workload {
  private var parts: [any Workload]
  private let weights: [Int]
  private let total: Int
  /// How much each is owed: the one that is owed most is next, so that a mix is even over any short time.
  private var credit: [Int]
  /// Which part each slot's request on its way is of.
  private var current: [Int]
  private let firstSlot: Int

  init(_ parts: [(workload: any Workload, weight: Int)], slots: Range<Int>) {
    self.parts = parts.map(\.workload)
    weights = parts.map(\.weight)
    total = weights.reduce(0, +)
    credit = Array(repeating: 0, count: parts.count)
    current = Array(repeating: 0, count: slots.count)
    firstSlot = slots.lowerBound
  }

  mutating func appendRequest(slot: Int, to buffer: inout [UInt8]) -> Bool {
    var next = 0
    for part in parts.indices {
      credit[part] += weights[part]
      if credit[part] > credit[next] { next = part }
    }
    credit[next] -= total
    current[slot - firstSlot] = next
    return parts[next].appendRequest(slot: slot, to: &buffer)
  }

  mutating func took(_ answer: Answer, slot: Int) -> Outcome {
    parts[current[slot - firstSlot]].took(answer, slot: slot)
  }

  mutating func lost(slot: Int) { parts[current[slot - firstSlot]].lost(slot: slot) }
}
