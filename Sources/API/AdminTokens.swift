internal import Crypto
internal import Domain

/// The tokens of administrators, each with the name that the audit knows its holder by. Only digests are kept, and
/// every one is compared, in constant time: how long an answer takes tells nothing of them.
struct AdminTokens: Sendable {
  private let digests: [(name: String, digest: [UInt8])]

  /// - Parameter tokens: By the name of their holder.
  init(_ tokens: [String: Secret<String>]) {
    digests = tokens.map { name, token in (name, sha256(Array(token.reveal().utf8))) }
  }

  var isEmpty: Bool { digests.isEmpty }

  /// Whose token it is.
  func holder(of token: String) -> String? {
    let digest = sha256(Array(token.utf8))
    return digests.filter { constantTimeEqual($0.digest, digest) }.first?.name
  }
}
