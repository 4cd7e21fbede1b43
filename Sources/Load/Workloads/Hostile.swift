/// One Apple token again and again: it opens one session, and every other answer is that same session or the refusal
/// that it was used.
struct ReplayWorkload: Workload {
  private let form: RequestForm
  private let tokens: AppleTokens
  private let isSpent: Bool
  private var session: [UInt8] = []
  var findings = Findings()

  /// - Parameter isSpent: Whether the session was refreshed by now, so that every answer has to be the refusal.
  init(_ tokens: AppleTokens, isSpent: Bool, host: String) {
    form = signInForm(host)
    self.tokens = tokens
    self.isSpent = isSpent
  }

  mutating func appendRequest(slot: Int, to buffer: inout [UInt8]) -> Bool {
    appendSignIn(form, tokens, 0, to: &buffer)
    return true
  }

  mutating func took(_ answer: Answer, slot: Int) -> Outcome {
    guard answer.status == 200 else {
      return answer.hasReason("credential_already_used") ? .expected : .bad
    }
    guard let found = answer.member("sessionId"), let token = answer.member("refreshToken") else {
      return .bad
    }
    if isSpent {
      findings.broken["an Apple token was taken again after its session's first refresh", default: 0] += 1
    }
    if !session.elementsEqual(found) {
      session = Array(found)
      findings.sessions.insert(session)
      findings.collected.append(Grant(sessionToken: [], refreshToken: Array(token)))
    }
    return .good
  }
}

/// The same Apple token over all connections at the same moment, in each round another one.
struct RaceWorkload: Workload {
  private let form: RequestForm
  private let tokens: AppleTokens
  private var index = -1
  /// Of the round.
  private var sessions: Set<[UInt8]> = []
  private var answers = 0
  private var broken: [String: Int] = [:]

  init(_ tokens: AppleTokens, host: String) {
    form = signInForm(host)
    self.tokens = tokens
  }

  mutating func beginVolley() {
    broken = brokenWithRound
    index += 1
    sessions = []
    answers = 0
  }

  mutating func appendRequest(slot: Int, to buffer: inout [UInt8]) -> Bool {
    guard index < tokens.count else { return false }
    appendSignIn(form, tokens, index, to: &buffer)
    return true
  }

  mutating func took(_ answer: Answer, slot: Int) -> Outcome {
    guard answer.status == 200 else {
      guard answer.hasReason("credential_already_used") else { return .bad }
      answers += 1
      return .expected
    }
    guard let session = answer.member("sessionId") else { return .bad }
    answers += 1
    sessions.insert(Array(session))
    return .good
  }

  var findings: Findings {
    var findings = Findings()
    findings.broken = brokenWithRound
    return findings
  }

  private var brokenWithRound: [String: Int] {
    var broken = broken
    if sessions.count > 1 { broken["one Apple token opened several sessions", default: 0] += 1 }
    if sessions.isEmpty, answers > 0 {
      broken["an Apple token was called used although it opened no session", default: 0] += 1
    }
    return broken
  }
}
