/// Apple tokens that were minted ahead, and the raw nonce of each; all in one block of memory, for there are many.
package final class AppleTokens: Sendable {
  private struct Entry: Sendable {
    let token: Range<Int>
    let nonce: Range<Int>
  }

  private let bytes: [UInt8]
  private let entries: [Entry]

  /// - Parameter lines: Of each token one line, in which the token, a space and its raw nonce stand.
  package init(lines: [UInt8]) {
    var entries: [Entry] = []
    var start = 0
    while let end = lines[start...].firstIndex(of: 10) {
      if let space = lines[start..<end].firstIndex(of: 32) {
        entries.append(Entry(token: start..<space, nonce: (space + 1)..<end))
      }
      start = end + 1
    }
    bytes = lines
    self.entries = entries
  }

  package var count: Int { entries.count }

  func token(_ index: Int) -> ArraySlice<UInt8> { bytes[entries[index].token] }
  func nonce(_ index: Int) -> ArraySlice<UInt8> { bytes[entries[index].nonce] }
}

/// One thread's share of tokens: every `threads`-th of them.
struct TokenShare {
  let tokens: AppleTokens
  private let stride: Int
  private var following: Int

  init(_ tokens: AppleTokens, thread: Int, threads: Int) {
    self.tokens = tokens
    stride = threads
    following = thread
  }

  /// The number of a token that was not given out before; nil when there is none left.
  mutating func take() -> Int? {
    guard following < tokens.count else { return nil }
    defer { following += stride }
    return following
  }
}
