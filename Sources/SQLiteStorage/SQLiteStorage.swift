//===-- SQLiteStorage -----------------------------------------------------===//
// The embedded engine: SQLite in WAL mode, one writer thread, many intentions to a commit.
//===------------------------------------------------------------------------===//
