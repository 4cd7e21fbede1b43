internal import Crypto
internal import Domain
internal import Glibc
package import Load
internal import MockApple
internal import Threads
internal import Wire

/// Apple tokens, minted ahead by the stand-in for Apple and kept in a file for the next run.
///
/// The file has a line about all tokens (what it is, the audience, how many persons, and when the oldest was minted),
/// and then of each token one line with its raw nonce. The stand-in's keys are public, so nothing in it is secret.
package struct MintedTokens: Sendable {
  private static let mark = "bramley-bench-tokens-1"

  private let audience: String
  private let persons: Int
  private var mintedAt: Int64
  /// The lines of the tokens.
  private var lines: [UInt8] = []
  package private(set) var count = 0

  /// - Parameter persons: How many different persons the tokens are of, in turn.
  package init(audience: String = benchAudience, persons: Int) {
    self.audience = audience
    self.persons = persons
    mintedAt = systemClock.now().seconds
  }

  /// Reads those that are kept in a file, unless they are of other persons or too old.
  ///
  /// - Parameter age: The most seconds that the oldest may have.
  package mutating func load(_ path: String, youngerThan age: Int64) {
    guard let bytes = readFile(path, atMost: 1 << 31), let end = bytes.firstIndex(of: 10) else { return }
    let words = String(decoding: bytes[..<end], as: UTF8.self).split(separator: " ")
    guard words.count == 4, words[0] == Self.mark, words[1] == audience, words[2] == "\(persons)",
      let mintedAt = Int64(words[3]), systemClock.now().seconds - mintedAt < age, bytes.last == 10
    else { return }
    self.mintedAt = mintedAt
    lines = Array(bytes[(end + 1)...])
    count = lines.count { $0 == 10 }
  }

  /// Mints until there are as many as are wanted, on all cores.
  package mutating func mint(upTo wanted: Int, stop: StopFlag) throws(LoadError) {
    guard count < wanted else { return }
    if count == 0 { mintedAt = systemClock.now().seconds }
    let apple: MockApple
    do {
      apple = try MockApple(clock: systemClock)
    } catch {
      throw .unavailable("the stand-in for Apple has no keys")
    }
    let cores = availableCores()
    let done = Monitor((count: 0, threads: 0, lines: [[UInt8]](repeating: [], count: cores)))
    let (first, order) = (count, TokenTemplate(audience: audience, persons: persons))
    for core in 0..<cores {
      do {
        _ = try DedicatedThread(name: "mint-\(core)") {
          var lines: [UInt8] = []
          for number in stride(from: first + core, to: wanted, by: cores) where !stop.isSet {
            order.mint(number, apple, to: &lines)
            done.update { $0.count += 1 }
          }
          done.update { state in
            state.lines[core] = lines
            state.threads += 1
          }
        }
      } catch {
        throw .unavailable("the system gives no thread")
      }
    }
    while done.wait(atMost: 250, for: { $0.threads == cores ? true : nil }) == nil {
      showProgress("minting Apple tokens: \(done.read { $0.count }) of \(wanted - first)")
    }
    showProgress("")
    for more in done.read({ $0.lines }) { lines += more }
    count = lines.count { $0 == 10 }
    if stop.isSet { throw .unavailable("stopped while minting") }
  }

  /// Keeps them in a file.
  ///
  /// - Parameter used: How many from the front are left out, since a server has seen them.
  /// - Returns: Whether they were written.
  @discardableResult
  package func save(_ path: String, without used: Int = 0) -> Bool {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    for length in 1..<max(parts.count, 2) {
      unsafe mkdir(parts[..<length].joined(separator: "/"), 0o700)
    }
    var rest = lines[...]
    for _ in 0..<min(used, count) {
      guard let end = rest.firstIndex(of: 10) else { break }
      rest = rest[(end + 1)...]
    }
    return writeFile(path, Array("\(Self.mark) \(audience) \(persons) \(mintedAt)\n".utf8) + rest)
  }

  /// The first of them, for a workload.
  ///
  /// - Parameter start: How many from the front are another workload's.
  package func tokens(_ wanted: Int, from start: Int = 0) -> AppleTokens {
    var ends = 0
    var (first, last) = (lines.startIndex, lines.endIndex)
    for (index, byte) in lines.enumerated() where byte == 10 {
      ends += 1
      if ends == start { first = index + 1 }
      if ends == start + wanted {
        last = index + 1
        break
      }
    }
    return AppleTokens(lines: Array(lines[first..<max(first, last)]))
  }
}

/// What the tokens have in common.
private struct TokenTemplate: Sendable {
  let audience: String
  let persons: Int

  func mint(_ number: Int, _ apple: MockApple, to lines: inout [UInt8]) {
    let person = number % persons
    var order = TokenOrder()
    order.audience = audience
    order.subject = benchSubject(person)
    order.email = "person\(person)@privaterelay.appleid.com"
    // 32 letters, as Apple's own sample code makes them.
    let nonce = hexText(Entropy.system.bytes(16))
    order.rawNonce = nonce
    guard let token = try? apple.mint(order) else { return }
    lines += Array("\(token) \(nonce)\n".utf8)
  }
}

/// A person's subject, in the form that Apple's have.
func benchSubject(_ person: Int) -> String {
  let digits = String(person, radix: 16)
  return "001000." + String(repeating: "0", count: max(0, 32 - digits.count)) + digits + ".0001"
}
