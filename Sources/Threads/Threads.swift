//===-- Threads -----------------------------------------------------------===//
// Threads of our own for work that blocks: one thread, one bounded inbox, taken in batches. The shared pool
// has as many threads as the machine has cores, so nothing that waits on a disk or a pipe may run there.
//===------------------------------------------------------------------------===//
