//===-- Outbound ----------------------------------------------------------===//
// HTTPS requests to addresses that the operator configured, over libcurl: limits, deadlines, no redirects.
//===------------------------------------------------------------------------===//
