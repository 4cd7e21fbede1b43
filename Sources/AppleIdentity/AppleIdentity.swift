//===-- AppleIdentity -----------------------------------------------------===//
// Apple's rules: identity tokens, the nonce, the key directory. Knows nothing of accounts and sessions.
//===------------------------------------------------------------------------===//
