internal import CPostgres
internal import Glibc
internal import Storage

// Pointers given to libpq here: none for later. It copies what a call sends, and what a result points at is copied
// before the result goes.

/// A text that a connection has the server prepare when it is first used.
final class PreparedText {
  let name: String
  let text: String
  /// Whether the server has it. What is sent behind a fault is passed over, so only its answer tells.
  fileprivate var isPrepared = false
  fileprivate var isSent = false

  init(name: String, text: String) {
    self.name = name
    self.text = text
  }
}

/// The rows that a statement answered.
@safe final class Rows {
  private let result: OpaquePointer

  fileprivate init(owning result: OpaquePointer) { unsafe self.result = result }

  deinit { unsafe PQclear(result) }

  var count: Int32 { unsafe PQntuples(result) }

  /// How many rows an INSERT, UPDATE or DELETE touched.
  var touched: Int { unsafe Int(String(cString: PQcmdTuples(result))) ?? 0 }

  /// What the server says it did: `COMMIT`, or `ROLLBACK` for a commit of what had failed.
  var command: String { unsafe String(cString: PQcmdStatus(result)) }

  func withRow<R>(_ row: Int32, _ body: (inout PostgresRow) throws(StorageError) -> R)
    throws(StorageError) -> R
  {
    var lent = unsafe PostgresRow(lending: result, row: row)
    return try body(&lent)
  }
}

/// One connection in pipeline mode: statements are sent without waiting, and their answers collected together
/// (postgresql.org/docs/current/libpq-pipeline-mode.html). Stays on one thread.
@safe final class Connection {
  private enum Pending {
    case preparation(PreparedText)
    case rows
  }

  private let raw: OpaquePointer
  private var pending: [Pending] = []
  /// Whether nothing more can be done with it.
  private(set) var isBroken = false
  /// The first fault since the last beginning.
  private(set) var fault: PostgresFault?
  /// The longest wait for the server's next word, in milliseconds.
  private let patience: Int32

  /// - Parameters:
  ///   - url: As libpq understands it, with what it says of TLS, hosts and time-outs.
  ///   - patienceMilliseconds: The longest wait for the server's next word.
  init(url: String, patienceMilliseconds: Int32) throws(PostgresFault) {
    patience = patienceMilliseconds
    guard isConnectionURL(url) else { throw .lost("libpq cannot read the URL") }
    guard let opened = unsafe connect(url) else { throw .lost("out of memory") }
    unsafe raw = opened
    // What a server remarks on is for nobody here, and libpq would write it to standard error.
    unsafe PQsetNoticeReceiver(opened, { _, _ in }, nil)
    guard unsafe PQstatus(raw) == CONNECTION_OK else {
      // libpq names host, port, user and database here, never the password.
      throw .lost(line(of: unsafe String(cString: PQerrorMessage(raw))))
    }
  }

  deinit { unsafe PQfinish(raw) }

  /// In what the server keeps texts, as it calls it; every server says so when it lets one in. Nil where none did.
  var encoding: String? {
    unsafe PQparameterStatus(raw, "server_encoding").map { unsafe String(cString: $0) }
  }

  /// Runs a script by itself, before ``beginPipeline()``.
  func execute(_ script: String) throws(PostgresFault) {
    _ = try rows(of: script)
  }

  /// As ``execute(_:)``, with the rows of the last statement, as text.
  private func rows(of script: String) throws(PostgresFault) -> Rows {
    guard let result = unsafe PQexec(raw, script) else { throw lost("out of memory") }
    let rows = unsafe Rows(owning: result)
    switch unsafe PQresultStatus(result) {
    case PGRES_COMMAND_OK, PGRES_TUPLES_OK: return rows
    default: throw unsafe fault(of: result)
    }
  }

  /// The first column of the first row as a number; nil where there is none.
  func number(_ text: String) throws(PostgresFault) -> Int64? {
    guard let result = unsafe PQexec(raw, text) else { throw lost("out of memory") }
    defer { unsafe PQclear(result) }
    guard unsafe PQresultStatus(result) == PGRES_TUPLES_OK else { throw unsafe fault(of: result) }
    guard unsafe PQntuples(result) > 0, unsafe PQgetisnull(result, 0, 0) == 0 else { return nil }
    return unsafe Int64(String(cString: PQgetvalue(result, 0, 0)))
  }

  /// From here on there are prepared statements only.
  func beginPipeline() throws(PostgresFault) {
    guard unsafe PQsetnonblocking(raw, 1) == 0, unsafe PQenterPipelineMode(raw) == 1 else {
      throw lost("no pipeline mode")
    }
  }

  /// Sends a statement behind those that were sent.
  func send(_ prepared: PreparedText, _ parameters: PostgresSlots = PostgresSlots()) {
    guard !isBroken else { return }
    if !prepared.isPrepared, !prepared.isSent {
      guard unsafe PQsendPrepare(raw, prepared.name, prepared.text, 0, nil) == 1 else { return giveUp() }
      prepared.isSent = true
      pending.append(.preparation(prepared))
    }
    guard sendPrepared(prepared.name, parameters) else { return giveUp() }
    pending.append(.rows)
  }

  private func giveUp() { isBroken = true }

  /// Notices, without waiting, that the server has closed the connection while nobody used it.
  func wasLeft() -> Bool {
    guard !isBroken else { return true }
    var watched = unsafe pollfd(fd: PQsocket(raw), events: Int16(POLLIN), revents: 0)
    guard unsafe poll(&watched, 1, 0) > 0 else { return false }
    // Between two pieces of work there is nothing to be read but a parting word, and then the end.
    if unsafe PQconsumeInput(raw) == 0 || PQstatus(raw) != CONNECTION_OK { isBroken = true }
    return isBroken
  }

  /// Forgets the fault of what was before.
  func begin() { fault = nil }

  /// The rows of what was sent last, once all that was sent before is done.
  func lastAnswer() throws(StorageError) -> Rows { try answers(1)[0] }

  /// As ``lastAnswer()``, of several.
  func answers(_ count: Int) throws(StorageError) -> [Rows] {
    do throws(PostgresFault) {
      let answers = try collect()
      guard answers.count >= count else { throw lost("the server gave no answer") }
      return Array(answers.suffix(count))
    } catch {
      throw error.storageError
    }
  }

  /// Waits for the answers of all that was sent, in its order; the first fault is thrown once the rest has been passed
  /// over.
  func collect() throws(PostgresFault) -> [Rows] {
    do throws(PostgresFault) {
      return try answers()
    } catch {
      if fault == nil { fault = error }
      throw error
    }
  }

  private func sendPrepared(_ name: String, _ parameters: PostgresSlots) -> Bool {
    let count = parameters.slots.count
    let lengths = parameters.slots.map { Int32(clamping: $0.count) }
    let formats: [Int32] = parameters.slots.map { $0.isBinary ? 1 : 0 }
    return unsafe parameters.bytes.withUnsafeBytes { bytes in
      // A value without bytes still needs an address: none means NULL.
      let empty: StaticString = ""
      let start =
        unsafe bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
        ?? UnsafeRawPointer(empty.utf8Start).assumingMemoryBound(to: CChar.self)
      let values = unsafe parameters.slots.map { slot in unsafe slot.start.map { unsafe start + $0 } }
      return unsafe PQsendQueryPrepared(raw, name, Int32(count), values, lengths, formats, 1) == 1
    }
  }

  private func answers() throws(PostgresFault) -> [Rows] {
    guard !isBroken else { throw lost("the connection was lost") }
    guard unsafe PQpipelineSync(raw) == 1 else { throw lost("the connection was lost") }
    let expected = pending
    pending = []
    var answers: [Rows] = []
    var first: PostgresFault?
    var index = 0
    while true {
      try waitForWord(first)
      guard let result = unsafe PQgetResult(raw) else {
        index += 1
        if unsafe PQstatus(raw) != CONNECTION_OK || index > expected.count + 1 { throw lost(first) }
        continue
      }
      let status = unsafe PQresultStatus(result)
      let rows = unsafe Rows(owning: result)
      switch status {
      case PGRES_PIPELINE_SYNC:
        for case .preparation(let text) in expected { text.isSent = false }
        if let first { throw first }
        return answers
      case PGRES_COMMAND_OK, PGRES_TUPLES_OK:
        guard index < expected.count else { throw lost(first) }
        switch expected[index] {
        case .preparation(let text): text.isPrepared = true
        case .rows: answers.append(rows)
        }
      case PGRES_PIPELINE_ABORTED: break
      default:
        if first == nil { first = unsafe fault(of: result) }
        if unsafe PQstatus(raw) != CONNECTION_OK { throw lost(first) }
      }
    }
  }

  /// Sends what is still to be sent and reads until there is an answer.
  private func waitForWord(_ first: PostgresFault?) throws(PostgresFault) {
    while true {
      let unsent = unsafe PQflush(raw)
      guard unsent >= 0 else { throw lost(first) }
      if unsafe PQisBusy(raw) == 0 { return }
      var watched = unsafe pollfd(
        fd: PQsocket(raw), events: Int16(POLLIN | (unsent > 0 ? POLLOUT : 0)), revents: 0)
      let ready = unsafe poll(&watched, 1, patience)
      if ready < 0, errno == EINTR { continue }
      guard ready > 0 else { throw lost(.silent) }
      guard unsafe PQconsumeInput(raw) == 1 else { throw lost(first) }
    }
  }

  private func lost(_ first: PostgresFault?) -> PostgresFault {
    isBroken = true
    return first ?? .lost(line(of: unsafe String(cString: PQerrorMessage(raw))))
  }

  private func lost(_ words: String) -> PostgresFault {
    isBroken = true
    return .lost(words)
  }

  private func fault(of result: OpaquePointer) -> PostgresFault {
    func field(_ code: Character) -> String {
      guard let text = unsafe PQresultErrorField(result, Int32(code.asciiValue ?? 0)) else { return "" }
      return unsafe String(cString: text)
    }
    let state = field("C")
    // The sentence of a fault of data quotes the data.
    let isAboutData = state.hasPrefix("22") || state.hasPrefix("23")
    return PostgresFault(state: state, detail: isAboutData ? field("n") : field("M"))
  }
}

/// Whether libpq understands it. What it says otherwise would quote the URL, with the password in it.
private func isConnectionURL(_ url: String) -> Bool {
  guard !url.utf8.contains(0), let options = unsafe PQconninfoParse(url, nil) else { return false }
  unsafe PQconninfoFree(options)
  return true
}

/// What the URL says goes before what is said here.
private func connect(_ url: String) -> OpaquePointer? {
  let settings = [
    ("application_name", "bramley"), ("connect_timeout", "3"), ("target_session_attrs", "read-write"),
    ("keepalives_idle", "10"), ("keepalives_interval", "3"), ("keepalives_count", "3"),
    ("tcp_user_timeout", "10000"), ("dbname", url), ("client_encoding", "UTF8"),
  ]
  let names = unsafe settings.map { unsafe UnsafePointer(strdup($0.0)) } + [nil]
  let values = unsafe settings.map { unsafe UnsafePointer(strdup($0.1)) } + [nil]
  defer {
    for index in settings.indices {
      unsafe free(UnsafeMutablePointer(mutating: names[index]))
      unsafe free(UnsafeMutablePointer(mutating: values[index]))
    }
  }
  return unsafe PQconnectdbParams(names, values, 1)
}

/// libpq's words as one line.
private func line(of text: String) -> String {
  text.split(separator: "\n").joined(separator: "; ")
}
