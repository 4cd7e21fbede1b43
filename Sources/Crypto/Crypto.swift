//===-- Crypto ------------------------------------------------------------===//
// Keys, digests, MACs, sealing and random bytes over OpenSSL 3. Nothing named after OpenSSL leaves here.
//===------------------------------------------------------------------------===//
