internal import Domain
package import HTTPServer
package import Sessions
package import Storage

/// Why a program could not do its work, and with which exit status it says so (sysexits.h).
package enum StartFault: Error, Sendable, Equatable {
  case databaseUnusable(name: String, StorageOpenError)
  case storage(StorageError)
  case masterKeyMissing(path: String)
  case masterKeyUnreadable(path: String)
  case masterKeyUnwritable(path: String, code: Int32)
  case signingKeys(SigningKeyError)
  case cryptoUnavailable(detail: String)
  case networkUnavailable
  case listener(HTTPListenerError)
  case threadsUnavailable
  /// A database is being moved in, or was not to the end.
  case arrivalUnfinished

  /// 78 when an operator has to change a setting, 1 when the schema has to be migrated first, 69 when something that
  /// is needed is not there.
  package var exitStatus: Int32 {
    switch self {
    case .databaseUnusable(_, .newerSchema), .databaseUnusable(_, .foreignDatabase),
      .databaseUnusable(_, .notADatabase), .databaseUnusable(_, .damaged), .databaseUnusable(_, .encoding),
      .masterKeyMissing, .masterKeyUnreadable,
      .signingKeys(.sealedByAnotherKey), .listener(.hostUnknown), .listener(.limitInvalid),
      .listener(.tlsIdentityUnusable):
      78
    case .databaseUnusable(_, .olderSchema), .arrivalUnfinished: 1
    default: 69
    }
  }

  /// A sentence for an operator.
  package var sentence: String {
    switch self {
    case .databaseUnusable(let name, let error): "the database \(name) cannot be used: \(error.sentence)"
    case .storage(let error): "the database does not answer: \(error.sentence)"
    case .masterKeyMissing(let path):
      "the database is not empty, but there is no master key: set BRAMLEY_MASTER_KEY, or bring back \(path)"
    case .masterKeyUnreadable(let path): "\(path) holds no master key that can be read"
    case .masterKeyUnwritable(let path, let code): "\(path) cannot be written: \(words(forSystemError: code))"
    case .signingKeys(let error): error.sentence
    case .cryptoUnavailable(let detail): "OpenSSL refuses: \(detail)"
    case .networkUnavailable: "outgoing connections cannot be set up"
    case .listener(.tlsIdentityUnusable):
      "BRAMLEY_TLS_CERT and BRAMLEY_TLS_KEY hold no certificate and key in PEM that belong together"
    case .listener(let error): "cannot listen: \(error.sentence)"
    case .threadsUnavailable: "no more threads can be started"
    case .arrivalUnfinished:
      "`bramley import` has not ended: wait for it, or begin it again with the same file, which goes on where it was"
    }
  }
}
