//===-- Storage -----------------------------------------------------------===//
// What must be remembered, as one protocol of intentions. Each intention is one transaction; what it decides is
// a pure function here, so that every engine decides alike.
//===------------------------------------------------------------------------===//
