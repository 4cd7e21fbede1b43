//===-- Wire --------------------------------------------------------------===//
// Bytes in, values out: base64url, JSON, form bodies, percent encoding. Strict: one spelling for each value,
// no member twice, no repair of bad UTF-8, limits before allocation. Knows no meaning of what it reads.
//===------------------------------------------------------------------------===//
