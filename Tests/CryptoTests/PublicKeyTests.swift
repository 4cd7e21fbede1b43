import Crypto
import Domain
import Foundation
import TestSupport
import Testing
import Wire

private let f4: [UInt8] = [1, 0, 1]

private func goodModulus() throws -> [UInt8] {
  guard case .rsa(let n, _) = TokenForge.apple.key.publicKey.numbers else { throw CancellationError() }
  return n
}

@Suite struct PublicKeyTests {
  @Test func `a key made from its numbers has those numbers`() throws {
    let n = try goodModulus()
    #expect(try PublicKey(rsaModulus: n, exponent: f4).numbers == .rsa(n: n, e: f4))
    #expect(n.count == 256)
    let key = try PrivateKey(pem: Secret(Array(KeySamples.p256.utf8)))
    guard case .p256(let x, let y) = key.publicKey.numbers else {
      Issue.record("not P-256")
      return
    }
    #expect(try PublicKey(p256X: x, y: y).numbers == .p256(x: x, y: y))
  }

  @Test(arguments: [64, 96, 128, 192, 255, 513, 1024])
  func `attack 10 an RSA key of another size is refused`(_ count: Int) {
    var n = Entropy.seeded(9).bytes(count)
    n[0] |= 0x80
    n[count - 1] |= 1
    #expect(throws: CryptoError.self) { try PublicKey(rsaModulus: n, exponent: f4) }
  }

  @Test func `a modulus of 2047 bits is refused`() throws {
    var n = try goodModulus()
    n[0] = 0x7F
    #expect(throws: CryptoError.self) { try PublicKey(rsaModulus: n, exponent: f4) }
  }

  @Test(
    arguments: [
      [], [0], [1], [2], [3], [17], [0xFF, 0xFF], [1, 0, 0], [1, 0, 2], [0, 1, 0, 1], [1, 0, 0, 0, 1],
      [UInt8](repeating: 0xFF, count: 8),
    ] as [[UInt8]])
  func `attack 10 an exponent that is small, even, padded or huge is refused`(_ e: [UInt8]) throws {
    let n = try goodModulus()
    #expect(throws: CryptoError.self) { try PublicKey(rsaModulus: n, exponent: e) }
  }

  @Test func `an even, a padded and an empty modulus are refused`() throws {
    let n = try goodModulus()
    for wrong in [Array(n.dropLast()) + [n[255] & 0xFE], [0] + n, []] {
      #expect(throws: CryptoError.self) { try PublicKey(rsaModulus: wrong, exponent: f4) }
    }
  }

  @Test func `a modulus with the fingerprint of CVE-2017-15361 is refused`() throws {
    let object = try JSONObject(parsing: fixture("roca-modulus.json"))
    let n = try decodeBase64URL(try #require(object.text("n")).utf8)
    #expect(n.count == 257)
    #expect(throws: CryptoError.self) { try PublicKey(rsaModulus: n, exponent: f4) }
  }

  @Test func `points that are not on the curve are refused`() throws {
    let key = try PrivateKey(pem: Secret(Array(KeySamples.p256.utf8)))
    guard case .p256(let x, let y) = key.publicKey.numbers else { return }
    var off = y
    off[31] ^= 1
    let zero = filled(0, 32)
    let pairs: [([UInt8], [UInt8])] = [
      (x, off), (zero, zero), (filled(0xFF, 32), filled(0xFF, 32)), (y, x), (x, []), ([], y), ([0] + x, y),
      (x, Array(y.dropFirst())),
    ]
    for (x, y) in pairs {
      #expect(throws: CryptoError.self) { try PublicKey(p256X: x, y: y) }
    }
  }

  @Test(arguments: SignatureAlgorithm.allCases)
  func `a signature is right for its key and message only`(_ algorithm: SignatureAlgorithm) throws {
    let key = try PrivateKey.generate(algorithm)
    let other = try PrivateKey.generate(algorithm)
    let message = Array("message".utf8)
    let signature = try key.sign(message)
    #expect(signature.count == (algorithm == .es256 ? 64 : 256))
    #expect(key.publicKey.isSignature(signature, for: message))
    #expect(!other.publicKey.isSignature(signature, for: message))
    #expect(!key.publicKey.isSignature(signature, for: message + [0]))
    #expect(!key.publicKey.isSignature([], for: message))
    for index in signature.indices {
      var wrong = signature
      wrong[index] ^= 1
      #expect(!key.publicKey.isSignature(wrong, for: message))
    }
    #expect(key.publicKey.isSignature(signature, for: message), "also after all those failures")
  }

  @Test func `attack 10 an RSA signature has exactly the length of the modulus`() throws {
    let key = TokenForge.apple.key
    let signature = try key.sign([1])
    #expect(!key.publicKey.isSignature([0] + signature, for: [1]))
    #expect(!key.publicKey.isSignature(signature + [0], for: [1]))
    #expect(!key.publicKey.isSignature(Array(signature.dropLast()), for: [1]))
    #expect(!key.publicKey.isSignature(filled(0, 256), for: [1]))
    #expect(!key.publicKey.isSignature(filled(0, 255) + [1], for: [1]))
  }

  // CVE-2022-21449: R = S = 0 was a signature of everything.
  @Test func `attack 9 an ECDSA signature of zeros, of other lengths or in DER is refused`() throws {
    let key = try PrivateKey.generate(.es256)
    let message = Array("message".utf8)
    let good = try key.sign(message)
    let order = hexBytes("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
    let r = Array(good.prefix(32))
    let s = Array(good.suffix(32))
    let zero = filled(0, 32)
    let der: [UInt8] = [0x30, 0x46, 0x02, 0x21, 0x00] + r + [0x02, 0x21, 0x00] + s
    let wrongs = [
      zero + zero, r + zero, zero + s, order + s, r + order, order + order, filled(0xFF, 64), [],
      Array(good.dropLast()),
      good + [0], [0] + good, good + good, der, s + r, filled(0, 63) + [1],
    ]
    for wrong in wrongs { #expect(!key.publicKey.isSignature(wrong, for: message)) }
    #expect(key.publicKey.isSignature(good, for: message))
  }

  @Test(.timeLimit(.minutes(2)), arguments: SignatureAlgorithm.allCases)
  func `many tasks sign and verify with one key`(_ algorithm: SignatureAlgorithm) async throws {
    let key = try PrivateKey.generate(algorithm)
    let rounds = algorithm == .es256 ? 40 : 4
    await withTaskGroup(of: Int.self) { group in
      for task in 0..<48 {
        group.addTask {
          var wrongs = 0
          for round in 0..<rounds {
            let message = Array("\(task)/\(round)".utf8)
            guard let signature = try? key.sign(message) else { return -1 }
            if !key.publicKey.isSignature(signature, for: message) { wrongs += 1 }
            if key.publicKey.isSignature(signature, for: message + [0]) { wrongs += 1 }
            await Task.yield()
          }
          return wrongs
        }
      }
      for await wrongs in group { #expect(wrongs == 0) }
    }
  }
}
