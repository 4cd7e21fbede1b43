//===-- Telemetry ---------------------------------------------------------===//
// Structured log lines: constant messages, values in fields, never a token, a name or an address.
//===------------------------------------------------------------------------===//
