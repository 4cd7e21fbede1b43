/// Which of several looks at the store and changes of it, when they overlap, memory follows.
///
/// Changes take their numbers while the store is theirs alone, and so these are in the order in which they were made: a later
/// one is never undone by an earlier one. A look takes its number before it begins. Once a change is known here, no look that
/// began before counts any more, whatever its number: it may have seen the store as it was. A look that begins after a
/// change is known has seen it.
struct StoreOrder: Sendable {
  private var last = 0
  /// The last change that counted.
  private var change = 0
  /// Only a look with a greater number counts.
  private var staleLook = 0

  mutating func nextNumber() -> Int {
    last += 1
    return last
  }

  /// Whether memory follows a change, now that it is made.
  mutating func counts(change number: Int) -> Bool {
    guard number > change else { return false }
    (change, staleLook) = (number, last)
    return true
  }

  /// Whether memory follows a look, now that it has been had.
  mutating func counts(look number: Int) -> Bool {
    guard number > staleLook else { return false }
    staleLook = number
    return true
  }
}
