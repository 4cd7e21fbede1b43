//===-- JOSE --------------------------------------------------------------===//
// Compact tokens and key sets (RFC 7515, 7517, 7519, 7638): parse, verify, sign. The caller pins algorithm and
// key; nothing a token says chooses them.
//===------------------------------------------------------------------------===//
