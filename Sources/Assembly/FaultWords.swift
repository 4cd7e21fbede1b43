internal import AppleIdentity
internal import Crypto
internal import Domain
internal import Glibc
internal import HTTPServer
internal import ProviderTokens
internal import Sessions
internal import Storage

// What the faults of other modules say to an operator: half sentences that stand behind a colon.

extension KeyFetchFault {
  /// A word for the log, out of a bounded set: alarms are made of it.
  var label: String {
    switch self {
    case .transport(.addressNotAllowed): "address_not_allowed"
    case .transport(.couldNotConnect): "could_not_connect"
    case .transport(.tlsFailed): "tls_failed"
    case .transport(.timedOut): "timed_out"
    case .transport(.bodyTooLarge): "body_too_large"
    case .transport(.broken): "broken"
    case .transport(.shuttingDown): "shutting_down"
    case .status(let status): "status_\(status)"
    case .notJSON: "not_json"
    case .noUsableKey: "no_usable_key"
    }
  }

  var sentence: String {
    switch self {
    case .transport(.addressNotAllowed): "the address is neither https nor one of this machine"
    case .transport(.couldNotConnect): "no connection could be made"
    case .transport(.tlsFailed): "no TLS connection could be made, or its certificate was refused"
    case .transport(.timedOut): "no answer came in time"
    case .transport(.bodyTooLarge): "the answer is too large"
    case .transport(.broken): "the answer broke off, or was no HTTP"
    case .transport(.shuttingDown): "this program is stopping"
    case .status(let status): "the answer has status \(status)"
    case .notJSON: "the answer is no JSON"
    case .noUsableKey: "the answer has no key that can be used"
    }
  }
}

extension HTTPListenerError {
  var sentence: String {
    switch self {
    case .hostUnknown(let host): "`\(host)` is no address or name of this machine"
    case .addressUnavailable(let code): words(forSystemError: code)
    case .limitInvalid(let name): "the limit `\(name)` has to be above zero"
    case .tlsIdentityUnusable:
      "the certificate and key of BRAMLEY_TLS_CERT and BRAMLEY_TLS_KEY are no PEM or do not belong together"
    case .startFailed: "its threads cannot be started"
    }
  }
}

extension StorageError {
  var sentence: String {
    switch self {
    case .unavailable: "it is locked, full or cannot be reached"
    case .overloaded: "too much waits for it already"
    case .corrupt: "what is in it is damaged, or not by this program"
    case .defect: "this program asked for what its schema does not allow, which is a bug"
    }
  }
}

extension StorageTrouble {
  var sentence: String {
    switch self {
    case .unreachable: "it cannot be reached"
    case .silent: "it does not answer in time"
    case .readOnly: "it takes no writes"
    case .full: "there is no room left"
    case .held: "others hold what is to be changed"
    case .damaged: "what is in it is damaged, or not by this program"
    case .refused: "it refuses what is asked of it"
    }
  }
}

extension AuditFault.Kind {
  package var sentence: String {
    switch self {
    case .lineChanged: "this line does not have its digest: it was changed, or others were put in its place"
    case .lineMissing: "no line is here, though one was"
    case .lineRepeated: "a second line is here"
    case .lineMisplaced: "a line is here, where none can be"
    case .headMissing: "from here on lines are chained or forgotten, and the chain has no head"
    case .headOutdated: "from here on lines are chained or forgotten, and the head is an older one"
    case .headForged: "the head has a code that is not by the master key that it names"
    case .anchorForged: "the anchor has a code that is not by the master key that it names"
    case .keyMissing: "an end of the chain has a code by a master key that is not in the settings"
    case .witnessDiffers: "the chain had another digest here when the head was told"
    }
  }
}

extension SigningKeyError {
  var sentence: String {
    switch self {
    case .sealedByAnotherKey(let id):
      "no master key that is set opens signing key \(id): the database belongs to another master key"
    case .noActiveKey: "the signing keys cannot be used: none of them is active"
    case .crypto(let error):
      "the signing keys cannot be used: OpenSSL refuses: \(error.operation): \(error.detail)"
    case .storage(let error): "the signing keys cannot be read: \(error.sentence)"
    }
  }
}

extension StorageOpenError {
  var isOlderSchema: Bool { if case .olderSchema = self { true } else { false } }

  var sentence: String {
    switch self {
    case .cannotOpen(let detail): detail
    case .notADatabase: "it is no SQLite database"
    case .damaged: "it is damaged"
    case .encoding(let name):
      "its encoding is \(name), which has no place for every letter of people's names: make one with `CREATE DATABASE "
        + "bramley ENCODING 'UTF8' LOCALE 'C' TEMPLATE template0`, and bring over what is in this one with pg_dump"
    case .foreignDatabase: "it belongs to another program"
    case .newerSchema(let found, let known): "its schema \(found) is newer than this program's \(known)"
    case .olderSchema(found: 0, _): "it has no schema yet: run `bramley migrate`, or start the service"
    case .olderSchema(let found, let known):
      "its schema \(found) is older than this program's \(known): run `bramley migrate`"
    case .migrationFailed(let version, let detail): "migration \(version) failed: \(detail)"
    case .busy: "another process holds it"
    }
  }
}

/// What the system's error numbers mean that an operator can do something about.
func words(forSystemError code: Int32) -> String {
  switch code {
  case EADDRINUSE: "the address is in use already"
  case EADDRNOTAVAIL: "this machine has no such address"
  case EACCES, EPERM: "permission denied"
  case ENOENT: "no such file or folder"
  case EROFS: "the file system is read-only"
  case ENOSPC: "no space left"
  default: "errno \(code)"
  }
}
