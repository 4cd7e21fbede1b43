//===-- Sessions ----------------------------------------------------------===//
// Our own side: session tokens, refresh tokens, challenges and the keys that make them. Knows nothing of Apple.
//===------------------------------------------------------------------------===//
