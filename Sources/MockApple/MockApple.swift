//===-- MockApple ---------------------------------------------------------===//
// A stand-in for Apple: keys, discovery and a mint for any identity token, right or wrong.
//===------------------------------------------------------------------------===//
