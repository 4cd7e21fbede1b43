//===-- Threads -----------------------------------------------------------===//
// Threads of our own for work that blocks: one thread, one bounded inbox, taken in batches. The shared pool
// has as many threads as the machine has cores, so nothing that waits on a disk or a pipe may run there.
//
// The module knows nothing of what the work is. Signals never reach these threads: the one that takes them
// with `sigwait` is the program's.
//===------------------------------------------------------------------------===//

/// Why a thread could not be had.
package enum ThreadError: Error, Equatable, Sendable {
  /// The system refused one more thread; the code is the `errno` value it gave.
  case notStarted(code: Int32)
}
