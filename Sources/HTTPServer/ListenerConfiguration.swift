/// Where a listener listens and what it allows. Nothing has a default: each limit is somebody's decision.
package struct ListenerConfiguration: Sendable, Equatable {
  /// An IPv4 or IPv6 address, or a name of this machine; `::` takes IPv4 too.
  package var host: String
  /// 0 lets the system pick one.
  package var port: UInt16
  /// Threads that read, parse, answer what does not wait, and write.
  package var threads: Int
  /// Connections at a time, over all threads; newcomers beyond it wait in the backlog. It is lowered to what
  /// the process's limit of open files affords.
  package var connectionLimit: Int
  /// Bytes of a request's body.
  package var bodyLimit: Int
  /// Bytes of all bodies that have come and belong to requests which are not over. A body that would exceed
  /// it is refused as overloaded.
  package var bodyMemoryLimit: Int
  /// Bytes of memory of one connection. A request's head may have half of them: the answer to it needs some, too.
  package var connectionMemoryLimit: Int
  /// Seconds without a byte after which a connection closes.
  package var idleSeconds: Int
  /// Seconds that a head may take from its first byte to its last, however it trickles in.
  package var headSeconds: Int
  /// From a complete head to the answer; at twice that, with the body not complete, the connection is cut.
  package var deadline: Duration
  /// The same for single paths, where it is another time.
  package var deadlines: [String: Duration] = [:]
  /// Requests that responders work on at a time; one more is refused as overloaded.
  package var maxRequestsInFlight: Int
  /// With one, the listener speaks TLS 1.2 or newer and nothing else.
  package var tls: TLSIdentity?

  /// Checks nothing; starting a listener does.
  package init(
    host: String, port: UInt16, threads: Int, connectionLimit: Int, bodyLimit: Int,
    bodyMemoryLimit: Int, connectionMemoryLimit: Int, idleSeconds: Int, headSeconds: Int,
    deadline: Duration, maxRequestsInFlight: Int, tls: TLSIdentity?
  ) {
    self.host = host
    self.port = port
    self.threads = threads
    self.connectionLimit = connectionLimit
    self.bodyLimit = bodyLimit
    self.bodyMemoryLimit = bodyMemoryLimit
    self.connectionMemoryLimit = connectionMemoryLimit
    self.idleSeconds = idleSeconds
    self.headSeconds = headSeconds
    self.deadline = deadline
    self.maxRequestsInFlight = maxRequestsInFlight
    self.tls = tls
  }

  /// How long a request may take from its complete head to the end of its body. Who trickles beyond that gets
  /// no answer: such bytes are cheap to send.
  var patience: Duration { deadline * 2 }

  /// Bytes that a request's head may have.
  var headLimit: Int { connectionMemoryLimit / 2 }

  /// The name of the first limit that means nothing, or nil.
  var invalidLimit: String? {
    // 512 bytes is the least with which the library can answer at all; the upper bounds are those of C's ints.
    if !(1...1024).contains(threads) { return "threads" }
    if connectionLimit < threads || connectionLimit > Int(Int32.max) { return "connectionLimit" }
    if bodyLimit < 0 { return "bodyLimit" }
    if bodyMemoryLimit < bodyLimit { return "bodyMemoryLimit" }
    if connectionMemoryLimit < 512 { return "connectionMemoryLimit" }
    if idleSeconds < 1 || idleSeconds > 86_400 { return "idleSeconds" }
    if headSeconds < 1 || headSeconds > 86_400 { return "headSeconds" }
    if deadlines.values.contains(where: { $0 <= .zero }) { return "deadlines" }
    if deadline <= .zero { return "deadline" }
    return maxRequestsInFlight < 1 ? "maxRequestsInFlight" : nil
  }
}

/// What a listener shows to prove who it is. It prints as nothing: one half of it is a secret.
package struct TLSIdentity: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
  /// The certificate and those that signed it, PEM.
  let certificate: [UInt8]
  /// The private key, PEM.
  let privateKey: [UInt8]

  package init(certificate: [UInt8], privateKey: [UInt8]) {
    self.certificate = certificate
    self.privateKey = privateKey
  }

  package var description: String { "[TLS identity]" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
