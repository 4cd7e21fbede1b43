// What the rules ask of the world. Each is handed in by an initialiser and has no default: a default clock
// is a test that cannot be written.

/// The time of day, for everything that is compared with a time in a token or a record.
package struct WallClock: Sendable {
  package let now: @Sendable () -> UnixTime

  package init(now: @escaping @Sendable () -> UnixTime) {
    self.now = now
  }
}

/// Milliseconds of a clock that never goes back, for freshness, cool-downs and deadlines.
package struct SteadyClock: Sendable {
  package let now: @Sendable () -> SteadyTime

  package init(now: @escaping @Sendable () -> SteadyTime) {
    self.now = now
  }
}

/// A moment of a ``SteadyClock``; only differences mean anything.
package struct SteadyTime: Hashable, Comparable, Sendable {
  package let milliseconds: Int64

  package init(milliseconds: Int64) {
    self.milliseconds = milliseconds
  }

  package static func < (a: SteadyTime, b: SteadyTime) -> Bool { a.milliseconds < b.milliseconds }

  /// Milliseconds from `earlier` to `self`; negative when that came later.
  package func milliseconds(since earlier: SteadyTime) -> Int64 { milliseconds - earlier.milliseconds }
}

/// Random bytes that nobody can foresee.
package struct Entropy: Sendable {
  package let bytes: @Sendable (Int) -> [UInt8]

  package init(bytes: @escaping @Sendable (Int) -> [UInt8]) {
    self.bytes = bytes
  }
}

/// One request to a server that an operator's settings name; never one that a client named.
package struct FetchRequest: Sendable, Equatable {
  /// What is asked: to read, or to take in a body.
  package enum Method: Sendable { case get, post }

  package let method: Method
  package let url: String
  package let headers: [(name: String, value: String)]
  package let body: [UInt8]
  package let connectMilliseconds: Int64
  /// From the call to the last byte of the body.
  package let totalMilliseconds: Int64
  package let bodyLimit: Int

  package init(
    method: Method = .get, url: String, headers: [(name: String, value: String)] = [], body: [UInt8] = [],
    connectMilliseconds: Int64, totalMilliseconds: Int64, bodyLimit: Int
  ) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
    self.connectMilliseconds = connectMilliseconds
    self.totalMilliseconds = totalMilliseconds
    self.bodyLimit = bodyLimit
  }

  package static func == (a: FetchRequest, b: FetchRequest) -> Bool {
    a.method == b.method && a.url == b.url && a.body == b.body
      && a.headers.elementsEqual(b.headers) { $0.name == $1.name && $0.value == $1.value }
      && a.connectMilliseconds == b.connectMilliseconds && a.totalMilliseconds == b.totalMilliseconds
      && a.bodyLimit == b.bodyLimit
  }
}

/// What came back, whole and within the limits. Redirects are answers like any other: they are not followed.
package struct FetchResponse: Sendable, Equatable {
  package let status: Int
  package let contentType: String?
  /// The `Date` header as it came.
  package let date: String?
  /// The `Cache-Control` header as it came.
  package let cacheControl: String?
  /// The `Retry-After` header as it came.
  package let retryAfter: String?
  package let body: [UInt8]

  package init(
    status: Int, contentType: String?, date: String? = nil, cacheControl: String? = nil,
    retryAfter: String? = nil, body: [UInt8]
  ) {
    self.status = status
    self.contentType = contentType
    self.date = date
    self.cacheControl = cacheControl
    self.retryAfter = retryAfter
    self.body = body
  }
}

/// Why nothing usable came back. Each case is a bounded metric label.
package enum FetchError: Error, Equatable, Sendable {
  /// Not https, and not http to a loopback address.
  case addressNotAllowed
  case couldNotConnect
  case tlsFailed
  case timedOut
  case bodyTooLarge
  /// The transfer broke off or the answer was no HTTP.
  case broken
  case shuttingDown
}

/// Outgoing HTTP.
package protocol HTTPFetching: Sendable {
  func fetch(_ request: FetchRequest) async throws(FetchError) -> FetchResponse
}
