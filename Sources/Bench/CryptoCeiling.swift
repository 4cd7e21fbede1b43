internal import Crypto
internal import Domain
internal import Glibc
package import Load
internal import Threads

/// What one operation costs.
package struct Figure: Sendable, Equatable {
  /// What was measured, and on how many threads or by how many callers at a time.
  package let name: String
  package let callers: Int
  /// CPU time of one operation in microseconds; nil where only its duration matters.
  package let microseconds: Double?
  /// Operations per second, all callers together.
  package let perSecond: Double

  package init(name: String, callers: Int, microseconds: Double?, perSecond: Double) {
    self.name = name
    self.callers = callers
    self.microseconds = microseconds
    self.perSecond = perSecond
  }
}

/// An operation that a token cannot do without.
package enum CryptoOperation: String, Sendable, CaseIterable {
  case rsaVerify = "RSA-2048 verify"
  case ecdsaSign = "ES256 sign"
  case ecdsaVerify = "ES256 verify"
  case hmac = "HMAC-SHA-256"
}

/// Measures an operation through the service's own module, whose contexts are reused.
///
/// - Parameters:
///   - threads: Each does the same, at the same time.
///   - seconds: How long.
package func measure(
  _ operation: CryptoOperation, threads: Int, seconds: Double, stop: StopFlag
) throws(LoadError) -> Figure {
  let once: @Sendable () -> Bool
  do {
    once = try work(operation)
  } catch {
    throw .unavailable("there is no key for \(operation.rawValue)")
  }
  let results = Monitor<[(count: Int, cpu: Int, wall: Int)]>([])
  for thread in 0..<threads {
    do {
      _ = try DedicatedThread(name: "crypto-\(thread)") {
        let result = repeated(once, for: Int(seconds * 1e9), stop)
        results.update { $0.append(result) }
      }
    } catch {
      throw .unavailable("the system gives no thread")
    }
  }
  let all = results.wait { $0.count == threads ? $0 : nil } ?? []
  let count = all.reduce(0) { $0 + $1.count }
  guard count > 0 else { throw .unavailable("\(operation.rawValue) fails") }
  return Figure(
    name: operation.rawValue, callers: threads,
    microseconds: Double(all.reduce(0) { $0 + $1.cpu }) / Double(count) / 1000,
    perSecond: all.reduce(0.0) { $0 + Double($1.count) / Double(max($1.wall, 1)) * 1e9 })
}

/// The message is as long as what is signed of an Apple token.
private func work(_ operation: CryptoOperation) throws(CryptoError) -> @Sendable () -> Bool {
  let message = [UInt8](repeating: UInt8(ascii: "m"), count: 600)
  switch operation {
  case .rsaVerify, .ecdsaVerify:
    let key = try PrivateKey.generate(operation == .rsaVerify ? .rs256 : .es256)
    let (publicKey, signature) = (key.publicKey, try key.sign(message))
    return { publicKey.isSignature(signature, for: message) }
  case .ecdsaSign:
    let key = try PrivateKey.generate(.es256)
    return { (try? key.sign(message)) != nil }
  case .hmac:
    let key = MACKey([UInt8](repeating: 7, count: 32))
    let short = Array(message.prefix(48))
    return { key.code(for: short).count == 32 }
  }
}

private func repeated(_ once: () -> Bool, for nanoseconds: Int, _ stop: StopFlag) -> (
  count: Int, cpu: Int, wall: Int
) {
  for _ in 0..<20 where !once() { return (0, 0, 0) }
  let (cpu, start) = (threadNanoseconds(), steadyNanoseconds())
  var count = 0
  while !stop.isSet {
    for _ in 0..<20 where !once() { return (0, 0, 0) }
    count += 20
    if steadyNanoseconds() - start >= nanoseconds { break }
  }
  return (count, threadNanoseconds() - cpu, steadyNanoseconds() - start)
}
