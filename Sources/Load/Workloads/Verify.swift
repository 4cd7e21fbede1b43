/// What is asked about session tokens.
package enum TokenQuestion: Sendable, Equatable {
  /// `GET /v1/verify`, as a proxy asks.
  case verify
  /// `POST /v1/introspect`, with a service key.
  case introspect(serviceKey: String)
}

/// Asks about session tokens: of a few again and again, or of each once.
struct VerifyWorkload: Workload {
  private let question: TokenQuestion
  private let form: RequestForm
  private let tokens: [Grant]
  private let isOnce: Bool
  private let stride: Int
  private var following: Int

  /// - Parameter isOnce: Whether each token is sent once only.
  init(
    _ question: TokenQuestion, _ tokens: [Grant], host: String, thread: Int, threads: Int, isOnce: Bool
  ) {
    self.question = question
    self.tokens = tokens
    self.isOnce = isOnce
    form =
      switch question {
      case .verify: RequestForm("GET", "/v1/verify", host: host)
      case .introspect(let key):
        RequestForm(
          "POST", "/v1/introspect", host: host, headers: ["X-API-Key: \(key)"],
          body: "application/x-www-form-urlencoded")
      }
    stride = threads
    following = thread
  }

  mutating func appendRequest(slot: Int, to buffer: inout [UInt8]) -> Bool {
    if following >= tokens.count {
      guard !isOnce, !tokens.isEmpty else { return false }
      following %= tokens.count
    }
    let token = tokens[following].sessionToken[...]
    following += stride
    switch question {
    case .verify: form.append(to: &buffer, line: "Authorization: Bearer ", token)
    case .introspect: form.append(to: &buffer, body: beforeIntrospected, token)
    }
    return true
  }

  mutating func took(_ answer: Answer, slot: Int) -> Outcome {
    guard answer.status == 200 else { return .bad }
    switch question {
    case .verify: return .good
    case .introspect: return answer.bodyStarts(with: "{\"active\":true") ? .good : .bad
    }
  }
}

private let beforeIntrospected = piece("token=")
