//===-- Telemetry ---------------------------------------------------------===//
// Structured log lines: constant messages, values in fields, never a token, a name or an address.
//
// A line is one JSON object. It is put together and written on a thread of its own, so that nobody who logs
// ever waits for a reader of the log; when the reader is too slow, lines are dropped and counted.
//===------------------------------------------------------------------------===//
