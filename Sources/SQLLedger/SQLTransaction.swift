package import Storage

/// A transaction that waits for its turn, and who waits for it.
package struct SQLTransaction<Statement: SQLStatement>: Sendable {
  /// Whether it needs the write lock.
  package let writes: Bool
  /// What it decides on, if that is known.
  package let rows: DecisionRows?
  /// Runs the body; what it returns answers the caller, and may be called only after the commit.
  package let run: @Sendable (inout SQLLedger<Statement>) throws(StorageError) -> @Sendable () -> Void
  /// Answers the caller with an error. Of this and what `run` returned, one is called, once.
  package let fail: @Sendable (StorageError) -> Void

  /// A transaction of one body.
  package init<Outcome: Sendable>(
    body: @escaping @Sendable (inout SQLLedger<Statement>) throws(StorageError) -> Outcome, writes: Bool,
    on rows: DecisionRows? = nil,
    continuation: CheckedContinuation<Result<Outcome, StorageError>, Never>
  ) {
    self.writes = writes
    self.rows = rows
    run = { (ledger: inout SQLLedger<Statement>) throws(StorageError) -> @Sendable () -> Void in
      let outcome = try body(&ledger)
      return { continuation.resume(returning: .success(outcome)) }
    }
    fail = { error in continuation.resume(returning: .failure(error)) }
  }
}
