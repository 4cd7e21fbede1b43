/// What a workload makes of an answer.
package enum Outcome: Sendable, Equatable {
  case good
  /// A refusal that the workload provokes.
  case expected
  case bad
}

/// What is sent, and what an answer has to be. One of them belongs to one thread and serves its connections, which it
/// knows by their slots; at a time each slot has one request on its way.
package protocol Workload {
  /// Appends the slot's next request.
  ///
  /// - Returns: False when there is nothing to send any more.
  mutating func appendRequest(slot: Int, to buffer: inout [UInt8]) -> Bool
  /// Looks at the answer to the slot's request.
  mutating func took(_ answer: Answer, slot: Int) -> Outcome
  /// The connection broke with the slot's request on its way, whose fate is unknown.
  mutating func lost(slot: Int)
  /// Before each volley, where there are any.
  mutating func beginVolley()
  /// What must be told when the run is over.
  var findings: Findings { get }
}

extension Workload {
  package mutating func lost(slot: Int) {}
  package mutating func beginVolley() {}
  package var findings: Findings { Findings() }
}

/// What a workload has noticed beside counts and times.
package struct Findings: Sendable, Equatable {
  /// Promises of the service that were broken, each once and with how often.
  package var broken: [String: Int] = [:]
  /// Sessions that one Apple token opened: the distinct ones.
  package var sessions: Set<[UInt8]> = []
  /// Tokens that were handed out, for who prepares another workload.
  package var collected: [Grant] = []

  package init() {}

  mutating func merge(_ other: Findings) {
    broken.merge(other.broken) { $0 + $1 }
    sessions.formUnion(other.sessions)
    collected += other.collected
  }
}

/// A session's two tokens.
package struct Grant: Sendable, Equatable {
  package let sessionToken: [UInt8]
  package let refreshToken: [UInt8]
}

/// The parts of requests that do not change, made once.
struct RequestForm: Sendable {
  private let beforeLength: [UInt8]

  /// - Parameter headers: Whole lines without their ends.
  init(_ method: String, _ path: String, host: String, headers: [String] = [], body type: String? = nil) {
    var head = "\(method) \(path) HTTP/1.1\r\nHost: \(host)\r\n"
    for header in headers { head += header + "\r\n" }
    if let type { head += "Content-Type: \(type)\r\nContent-Length: " }
    beforeLength = Array(head.utf8)
  }

  /// Appends a request without a body; `line` is one more header, without its end.
  func append(to buffer: inout [UInt8], line name: StaticString = "", _ value: ArraySlice<UInt8> = []) {
    buffer.append(contentsOf: beforeLength)
    if !value.isEmpty {
      append(name, to: &buffer)
      buffer.append(contentsOf: value)
      append("\r\n", to: &buffer)
    }
    append("\r\n", to: &buffer)
  }

  /// Appends a request whose body consists of these pieces; a fixed count of them, since a list would be allocated.
  func append(
    to buffer: inout [UInt8], body first: ArraySlice<UInt8>, _ second: ArraySlice<UInt8>,
    _ third: ArraySlice<UInt8> = [], _ fourth: ArraySlice<UInt8> = [], _ fifth: ArraySlice<UInt8> = []
  ) {
    buffer.append(contentsOf: beforeLength)
    appendDecimal(first.count + second.count + third.count + fourth.count + fifth.count, to: &buffer)
    append("\r\n\r\n", to: &buffer)
    buffer.append(contentsOf: first)
    buffer.append(contentsOf: second)
    buffer.append(contentsOf: third)
    buffer.append(contentsOf: fourth)
    buffer.append(contentsOf: fifth)
  }

  private func append(_ text: StaticString, to buffer: inout [UInt8]) {
    unsafe buffer.append(
      contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }
}

private func appendDecimal(_ number: Int, to buffer: inout [UInt8]) {
  var divisor = 1
  while number / divisor >= 10 { divisor *= 10 }
  while divisor > 0 {
    buffer.append(UInt8(0x30 + number / divisor % 10))
    divisor /= 10
  }
}

/// A text as bytes that can be a piece of a body.
func piece(_ text: String) -> ArraySlice<UInt8> { Array(text.utf8)[...] }
