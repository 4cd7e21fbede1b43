internal import Bench
internal import Load
internal import LoadReport
internal import Wire

/// The tokens that workloads are prepared with: Apple's minted ahead, sessions opened and refreshed before.
final class Supplies {
  private let options: LoadOptions
  private let target: Target
  private let stop: StopFlag
  private var minted: MintedTokens
  private var used = 0

  init(_ options: LoadOptions, _ target: Target, _ stop: StopFlag) {
    self.options = options
    self.target = target
    self.stop = stop
    minted = MintedTokens(audience: options.arguments["audience"] ?? benchAudience, persons: options.persons)
    // A server that was not started for the run takes them for an hour, most likely.
    if let file = options.tokenFile { minted.load(file, youngerThan: target.isSpawned ? 80_000 : 2700) }
  }

  /// Apple tokens that nobody else has.
  func appleTokens(_ count: Int) throws(CommandFault) -> AppleTokens {
    let before = minted.count
    try attempt { () throws(LoadError) in try minted.mint(upTo: used + count, stop: stop) }
    if minted.count > before { save() }
    defer { used += count }
    return minted.tokens(count, from: used)
  }

  /// Leaves for the next run what that can use: a server that was started for this one has forgotten everything.
  func save() {
    if let file = options.tokenFile { minted.save(file, without: target.isSpawned ? 0 : used) }
  }

  /// Sessions that live.
  func grants(_ count: Int) throws(CommandFault) -> [Grant] {
    try collect(.collectSignIns(appleTokens(count)), count)
  }

  /// As many session tokens, from so few sessions as it takes.
  func freshTokens(_ count: Int) throws(CommandFault) -> [Grant] {
    let sessions = try grants(min(count, max(options.sessions, 16)))
    return try collect(.collectRefreshes(sessions), count)
  }

  private func collect(_ kind: WorkloadKind, _ count: Int) throws(CommandFault) -> [Grant] {
    showProgress("preparing \(count) sessions")
    let plan = LoadPlan(
      arrival: .closed, connections: min(16, count), threads: 1, warmUp: 0, duration: 600_000_000_000,
      count: count)
    let outcome = try attempt { () throws(LoadError) in
      try runLoad(kind, plan, name: "", against: target.endpoint, server: nil, stop: stop)
    }
    showProgress("")
    guard outcome.findings.collected.count == count else {
      let reasons = outcome.report.refusals.map { "\($0.count) times \($0.status) \($0.reason)" }
      throw .unavailable("cannot prepare sessions: " + reasons.joined(separator: ", "))
    }
    return outcome.findings.collected
  }

  /// The workload, with all that it needs for this plan.
  func prepare(_ name: WorkloadName, _ plan: LoadPlan) throws(CommandFault) -> WorkloadKind {
    // Of a closed loop nobody knows; more than this would be minted for nothing.
    let affordable = (plan.warmUp + plan.duration) / 1_000_000_000 * 6000 + 6000
    let requests = plan.requestCount ?? min(options.mint, affordable)
    switch name {
    case .signin: return .signIn(try appleTokens(requests))
    case .firebase: return .firebase(try appleTokens(requests))
    case .refresh: return .refresh(try grants(max(options.sessions, plan.connections)))
    case .verify:
      guard options.isFresh else { return .ask(.verify, try grants(options.sessions), isOnce: false) }
      return .ask(.verify, try freshTokens(requests), isOnce: true)
    case .introspect:
      guard let key = target.serviceKey else { throw .usage("introspect needs --service-key KEY") }
      return .ask(.introspect(serviceKey: key), try grants(options.sessions), isOnce: false)
    case .jwks: return .get(path: "/.well-known/jwks.json")
    case .replay: return .replay(try appleTokens(1), isSpent: false)
    case .race: return .race(try appleTokens(plan.count ?? 1))
    case .mix: return .mix(try mixParts(options.arguments.words[0], plan))
    }
  }

  private func mixParts(_ path: String, _ plan: LoadPlan) throws(CommandFault) -> [WorkloadKind.WeightedKind]
  {
    var parts: [WorkloadKind.WeightedKind] = []
    for (name, weight) in try readMix(path) {
      parts.append(WorkloadKind.WeightedKind(kind: try prepare(name, plan), weight: weight))
    }
    return parts
  }
}

/// Reads lines of a workload's name and its weight; `#` begins a comment.
func readMix(_ path: String) throws(CommandFault) -> [(WorkloadName, Int)] {
  guard let bytes = readFile(path, atMost: 64 * 1024) else { throw .unavailable("cannot read `\(path)`") }
  var parts: [(WorkloadName, Int)] = []
  for (index, line) in bytes.split(separator: 10, omittingEmptySubsequences: false).enumerated() {
    let text = String(decoding: line.prefix { $0 != UInt8(ascii: "#") }, as: UTF8.self)
    let words = text.split { $0 == " " || $0 == "\t" || $0 == "\r" }
    guard !words.isEmpty else { continue }
    guard words.count == 2, let name = WorkloadName(rawValue: String(words[0])), !name.isHostile,
      name != .mix,
      let weight = Int(words[1]), (1...10_000).contains(weight)
    else { throw .usage("`\(path)`, line \(index + 1): a workload and a weight from 1 to 10000 are needed") }
    guard !parts.contains(where: { $0.0 == name }) else {
      throw .usage("`\(path)`, line \(index + 1): \(name.rawValue) is there already")
    }
    parts.append((name, weight))
  }
  guard !parts.isEmpty else { throw .usage("`\(path)` names no workload") }
  return parts
}
