//===-- Assembly ----------------------------------------------------------===//
// Everything put together: builds the world in dependency order, starts it, stops it.
//===------------------------------------------------------------------------===//
