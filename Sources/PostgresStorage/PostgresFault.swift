package import Storage

/// What went wrong between this node and the server.
package struct PostgresFault: Error, Equatable {
  /// Five characters (postgresql.org/docs/current/errcodes-appendix.html); empty when the connection told nothing.
  let state: String
  /// Names tables and constraints at most; never values, of which the server's own detail has some.
  let detail: String

  /// What follows from it.
  package enum Consequence: Sendable, Equatable {
    /// The same again can go well: it met another transaction.
    case runAgain
    /// Somebody has locked a row or a table that it needs, for longer than was waited.
    case held
    /// This connection is of no more use: it is gone, or the server it leads to takes no writes.
    case reconnect
    /// A rule of the schema, or a value that the server does not take: what was decided on changed meanwhile, or it is a
    /// fault of this program. It is of whoever asked for that and of nobody else.
    case conflict
    /// The schema is not ours, or a value is not what this version writes.
    case corrupt
    /// The server cannot do it now.
    case unavailable
  }

  var consequence: Consequence { PostgresFault.consequence(of: state) }

  /// The one table of what error codes mean.
  ///
  /// A server that was demoted while we were connected answers 25006 to every write and is healthy for all else: the
  /// connection goes, and the next one looks for a server that takes writes.
  package static func consequence(of state: String) -> Consequence {
    switch state {
    case "40001", "40P01": .runAgain
    case "55P03": .held
    case "", "25006", "57P01", "57P02", "57P03", "57P05": .reconnect
    case let code where code.hasPrefix("08"): .reconnect
    // Of class 22 is also that there is not one row where there must be one: see `Statements.swift`.
    case let code where code.hasPrefix("22") || code.hasPrefix("23"): .conflict
    case let code where code.hasPrefix("42"): .corrupt
    default: .unavailable
    }
  }

  /// What it means to who asked for a transaction.
  var storageError: StorageError {
    switch consequence {
    case .conflict: .defect
    case .corrupt: .corrupt
    case .runAgain, .held, .reconnect, .unavailable: .unavailable
    }
  }

  /// A fault of the connection itself.
  static func lost(_ detail: String) -> PostgresFault { PostgresFault(state: "", detail: detail) }

  /// The server has the connection and says nothing.
  static let silent = lost("the server did not answer in time")

  /// What it means to who asks whether the database is there; nil where that is not the question.
  var trouble: StorageTrouble? { self == .silent ? .silent : PostgresFault.trouble(of: state) }

  /// As ``trouble``, of an error code.
  package static func trouble(of state: String) -> StorageTrouble? {
    switch consequence(of: state) {
    // Others were in the way. Whether of one person's row or of everybody's, ``Session/look()`` tells.
    case .runAgain, .held, .conflict: nil
    case .reconnect: state == "25006" ? .readOnly : .unreachable
    case .corrupt: .damaged
    // Of class 57 there is only what was cancelled, for the time that it took.
    case .unavailable: state == "53100" ? .full : state.hasPrefix("57") ? nil : .refused
    }
  }
}
