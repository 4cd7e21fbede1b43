//===-- Settings ----------------------------------------------------------===//
// What an operator may set: the environment and a YAML file, read once into typed values, with every fault
// reported together.
//===------------------------------------------------------------------------===//
