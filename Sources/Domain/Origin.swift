/// On whose word something is done.
package enum Actor: Sendable, Equatable {
  /// The person whose account it is.
  case person
  /// By the name of the token.
  case administrator(String)
  /// A back end, by its service key.
  case service
  /// Somebody at the command line.
  case command
  case apple
  /// The service by itself.
  case system

  /// As the audit writes it.
  package var text: String {
    switch self {
    case .person: "person"
    case .administrator(let name): "admin:\(name)"
    case .service: "service"
    case .command: "command"
    case .apple: "apple"
    case .system: "system"
    }
  }
}

/// Who asks for something, from where, and by which request: what the audit keeps beside what was done.
package struct Origin: Sendable, Equatable {
  /// On whose word.
  package let actor: Actor
  /// 4 bytes of an IPv4 address, or the first 8 of an IPv6 one; empty when there is none.
  package let address: [UInt8]
  /// Finds the request in the log; nil when there was none.
  package let requestID: String?

  package init(actor: Actor, address: [UInt8] = [], requestID: String? = nil) {
    self.actor = actor
    self.address = address
    self.requestID = requestID
  }
}
