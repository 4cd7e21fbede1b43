import Bench
import Foundation
import Load
import Testing

@Suite struct TokenTests {
  private func withFile(_ body: (String) throws -> Void) throws {
    let folder = "/tmp/bramley-tokens-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try body(folder + "/deeper/tokens")
  }

  @Test func `minted tokens are kept for the next run, and only what is missing is minted`() throws {
    try withFile { path in
      var first = MintedTokens(persons: 5)
      try first.mint(upTo: 3, stop: StopFlag())
      #expect(first.save(path))
      var second = MintedTokens(persons: 5)
      second.load(path, youngerThan: 60)
      #expect(second.count == 3)
      try second.mint(upTo: 4, stop: StopFlag())
      #expect(second.count == 4)
      #expect(second.tokens(4).count == 4)
      #expect(second.tokens(2, from: 3).count == 1)
    }
  }

  @Test func `tokens of other persons or that are too old are not taken`() throws {
    try withFile { path in
      var minted = MintedTokens(persons: 5)
      try minted.mint(upTo: 1, stop: StopFlag())
      minted.save(path)
      var others = MintedTokens(persons: 6)
      others.load(path, youngerThan: 60)
      #expect(others.count == 0)
      var later = MintedTokens(persons: 5)
      later.load(path, youngerThan: 0)
      #expect(later.count == 0)
    }
  }

  @Test func `what a server has seen is not kept`() throws {
    try withFile { path in
      var minted = MintedTokens(persons: 5)
      try minted.mint(upTo: 5, stop: StopFlag())
      minted.save(path, without: 2)
      var rest = MintedTokens(persons: 5)
      rest.load(path, youngerThan: 60)
      #expect(rest.count == 3)
    }
  }

  @Test(arguments: [
    "", "\n", "bramley-bench-tokens-1 com.example.bench 5 x\na b\n", "something else\n", "a b c d",
  ])
  func `a file that is something else is passed over`(_ text: String) throws {
    try withFile { path in
      try FileManager.default.createDirectory(
        atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
      try Data(text.utf8).write(to: URL(fileURLWithPath: path))
      var tokens = MintedTokens(persons: 5)
      tokens.load(path, youngerThan: 60)
      #expect(tokens.count == 0)
    }
  }

  @Test func `nonces are unique`() throws {
    var minted = MintedTokens(persons: 2)
    try minted.mint(upTo: 6, stop: StopFlag())
    try withFile { path in
      minted.save(path)
      let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").dropFirst()
      let nonces = lines.compactMap { $0.split(separator: " ").last }
      #expect(Set(nonces).count == 6)
    }
  }
}
