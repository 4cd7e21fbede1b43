internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// One request of the kit's.
struct Call: Sendable {
  enum Method: String { case get = "GET", post = "POST", patch = "PATCH", delete = "DELETE" }

  let method: Method
  let path: String
  /// What is left alone together when the service asks for that.
  var kind: String
  var body: Data?
  /// The session token.
  var bearer: String?
  /// Whether an answer is worth little time: it is asked for once, and waited for less long.
  var isHurried = false
  /// Whether it does something else each time: then it is not sent again when there was no answer.
  var isOnce = false

  init(method: Method, path: String, body: Data? = nil) {
    (self.method, self.path, kind, self.body) = (method, path, path, body)
  }
}

/// What a good answer brings.
struct Answer: Sendable {
  let body: Data
  /// The time of day at the service; nil when it did not say.
  let serverTime: Date?
}

/// Why there is no good answer.
enum CallFault: Error, Sendable {
  /// The service said no.
  case refused(Refusal)
  /// Nobody answered, or somebody who is not the service: a proxy, the page of a hotel's network. Where it is futile
  /// asking again brings nothing, until the network or the app is another.
  case unanswered(NSError, isFutile: Bool)
}

/// The service's no.
struct Refusal: Sendable {
  let status: Int
  /// The word in front of its message.
  let code: String
  let message: String
  let reason: String?
  let requestID: String?
  /// Seconds.
  let retryAfter: TimeInterval?
}

extension CallFault {
  /// An answer that the service does not give, whoever gave it.
  static let notTheService = CallFault.unanswered(
    NSError(domain: NSURLErrorDomain, code: NSURLErrorBadServerResponse), isFutile: false)

  /// Whether a connection broke off: also the network's word for one that an app had when it was suspended.
  fileprivate var isLostConnection: Bool {
    if case .unanswered(let cause, _) = self { cause.code == NSURLErrorNetworkConnectionLost } else { false }
  }

  /// Whether the same request may get another answer later: then nothing is known, and nobody is signed out.
  var isOutage: Bool {
    switch self {
    case .unanswered: true
    case .refused(let refusal): refusal.status >= 500 || refusal.status == 429 || refusal.status == 408
    }
  }

  var code: String? { if case .refused(let refusal) = self { refusal.code } else { nil } }

  /// Whether the service does not take the session token, but may take a newer one.
  var isBearerRefused: Bool { if case .refused(let refusal) = self { refusal.status == 401 } else { false } }

  /// Whether the session that was to be ended is over, or never was.
  var isOfEndedSession: Bool {
    guard case .refused(let refusal) = self else { return false }
    return refusal.status == 404 || RefusalWords.endedSessions.contains(refusal.code)
  }

  /// Whether the service has asked to be left alone, which goes for everybody. After anything else whoever has no other way
  /// may ask again at once.
  fileprivate var isRequest: Bool {
    if case .refused(let refusal) = self { refusal.status == 429 || refusal.retryAfter != nil } else { false }
  }

  /// As apps get it.
  func error(_ further: [String: Any] = [:]) -> AuthErrorCode {
    switch self {
    case .unanswered(let cause, _):
      let isForbidden = cause.code == NSURLErrorAppTransportSecurityRequiresSecureConnection
      return AuthErrorCode.networkError.error(
        isForbidden
          ? "The app's NSAppTransportSecurity does not allow http to the service's address."
          : "The service cannot be reached. Try again later.",
        [NSUnderlyingErrorKey: cause].merging(further) { $1 })
    case .refused(let refusal):
      var details: [String: Any] = [:]
      details[AuthErrorUserInfoServiceCodeKey] = refusal.code
      details[AuthErrorUserInfoReasonKey] = refusal.reason
      details[AuthErrorUserInfoRequestIDKey] = refusal.requestID
      details[AuthErrorUserInfoRetryAfterKey] = refusal.retryAfter
      let code = RefusalWords.authCodes[refusal.code] ?? (isOutage ? .networkError : .requestNotUnderstood)
      return code.error(refusal.message, details.merging(further) { $1 })
    }
  }
}

/// The service's address, and how it is spoken to.
struct Endpoint: Sendable {
  let url: URL
  let apiKey: String?
  let transport: any Transport
  let world: Surroundings

  private struct Rest {
    let until: TimeInterval
    let fault: CallFault
  }

  /// What to leave alone for a while, by the kind of call.
  private let rests = Locked<[String: Rest]>([:])

  /// How often one call asks, and after how many seconds it does so no more.
  private static let tries = 3
  private static let patience: TimeInterval = 15
  /// How many seconds nobody asks who does not have to, after there was no answer.
  private static let respite: TimeInterval = 30

  /// Sends a call, and sends it again, the same bytes, while that may help: after what the service says to wait, a little
  /// longer by chance so that not all devices come back at once.
  func answer(to call: Call) async throws(CallFault) -> Answer {
    if let fault = rest(of: call.kind)?.fault, fault.isRequest { throw fault }
    let start = world.steady()
    var number = 1
    while true {
      do throws(CallFault) {
        let answer = try await once(call)
        rests.withLock { $0[call.kind] = nil }
        return answer
      } catch {
        guard let pause = pause(after: error, tries: number) else { throw error }
        if call.isOnce, case .unanswered = error { throw error }
        // Of an app that was suspended meanwhile nobody has waited for so long.
        let isInTime =
          world.steady() - start + pause <= Self.patience || number == 1 && error.isLostConnection
        guard isInTime, number < (call.isHurried ? 1 : Self.tries) else {
          leaveAlone(call.kind, after: error)
          throw error
        }
        number += 1
        // Ends early only in a task that was cancelled, which then asks no more.
        guard (try? await world.sleep(pause)) != nil else { throw error }
      }
    }
  }

  /// Whether there was no answer to a kind of call a moment ago, or the service has asked to be left alone with it.
  func isResting(_ kind: String) -> Bool { rest(of: kind) != nil }

  private func rest(of kind: String) -> Rest? {
    let now = world.steady()
    return rests.current[kind].flatMap { $0.until > now ? $0 : nil }
  }

  private func leaveAlone(_ kind: String, after fault: CallFault) {
    var pause = pause(after: fault, tries: Self.tries) ?? 0
    if case .unanswered = fault { pause = Self.respite * (1 + world.chance() / 4) }
    let rest = Rest(until: world.steady() + pause, fault: fault)
    rests.withLock { $0[kind] = rest }
  }

  /// Seconds to wait after a fault, of the service's own at most an hour; nil where waiting helps nobody.
  ///
  /// - Parameter tries: How often in a row it has failed.
  private func pause(after fault: CallFault, tries: Int) -> TimeInterval? {
    guard fault.isOutage else { return nil }
    var wanted = min(60, 0.5 * Double(1 << min(tries - 1, 10)))
    switch fault {
    case .unanswered(_, isFutile: true): return nil
    case .unanswered: break
    case .refused(let refusal): if let told = refusal.retryAfter { wanted = min(max(told, 0.5), 3600) }
    }
    return wanted * (1 + world.chance() / 4)
  }

  /// A path below the service's address, which may have one of its own.
  func address(of path: String) -> URL { url.appendingPathComponent(String(path.drop { $0 == "/" })) }

  private func once(_ call: Call) async throws(CallFault) -> Answer {
    var request = URLRequest(url: address(of: call.path))
    request.httpMethod = call.method.rawValue
    request.httpBody = call.body
    request.timeoutInterval = call.isHurried ? 10 : 20
    if call.body != nil { request.setValue("application/json", forHTTPHeaderField: "Content-Type") }
    if let bearer = call.bearer { request.setValue("Bearer \(bearer)", forHTTPHeaderField: "Authorization") }
    if let apiKey { request.setValue(apiKey, forHTTPHeaderField: "X-API-Key") }
    let response: TransportAnswer
    do {
      response = try await transport.answer(to: request)
    } catch {
      throw .unanswered(error as NSError, isFutile: isFutile(error))
    }
    if response.status == 200, (try? JSONSerialization.jsonObject(with: response.body)) is [String: Any] {
      return Answer(body: response.body, serverTime: response.headers["date"].flatMap(httpDate))
    }
    throw fault(of: response)
  }

  private func fault(of response: TransportAnswer) -> CallFault {
    guard response.status >= 400, let envelope = try? JSONDecoder().decode(Envelope.self, from: response.body)
    else {
      return .notTheService
    }
    let error = envelope.error
    let word = error.message.prefix { $0 != " " }
    let sentence = error.message.dropFirst(word.count + " : ".count)
    return .refused(
      Refusal(
        status: response.status, code: String(word),
        message: sentence.isEmpty ? error.message : String(sentence), reason: error.details?.first?.reason,
        requestID: error.details?.first?.requestId,
        retryAfter: retryAfter(response)))
  }

  /// Seconds, or the time of day (RFC 9110 §10.2.3), which is compared with the service's own.
  private func retryAfter(_ response: TransportAnswer) -> TimeInterval? {
    guard let text = response.headers["retry-after"] else { return nil }
    if let seconds = TimeInterval(text) { return seconds >= 0 ? seconds : nil }
    let now = response.headers["date"].flatMap(httpDate) ?? world.now()
    return httpDate(text).map { max(0, $0.timeIntervalSince(now)) }
  }
}

/// The one envelope of all errors.
private struct Envelope: Decodable {
  struct Failure: Decodable {
    let message: String
    let details: [Detail]?
  }

  struct Detail: Decodable {
    let reason: String
    let requestId: String?
  }

  let error: Failure
}

/// Whether the device knows that it has no network, or does not let the app speak to the service: then there is nothing to
/// wait for.
private func isFutile(_ error: any Error) -> Bool {
  let known = [
    NSURLErrorNotConnectedToInternet, NSURLErrorDataNotAllowed, NSURLErrorInternationalRoamingOff,
    NSURLErrorAppTransportSecurityRequiresSecureConnection,
  ]
  return (error as? URLError).map { known.contains($0.code.rawValue) } ?? false
}

/// The time of a `Date` header (RFC 9110 §5.6.7).
private func httpDate(_ text: String) -> Date? {
  let format = DateFormatter()
  format.locale = Locale(identifier: "en_US_POSIX")
  format.timeZone = TimeZone(secondsFromGMT: 0)
  format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
  return format.date(from: text)
}
