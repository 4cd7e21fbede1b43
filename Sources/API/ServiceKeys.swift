internal import Crypto
internal import Domain
internal import HTTPServer

/// The keys of back ends. They come in a header and never in the query, which ends up in logs; every one is compared,
/// by digest and in constant time.
struct ServiceKeys: Sendable {
  private let digests: [[UInt8]]

  init(_ keys: [Secret<String>]) {
    digests = keys.map { sha256(Array($0.reveal().utf8)) }
  }

  var isEmpty: Bool { digests.isEmpty }

  /// Whether a request brings one, as `X-API-Key` or as a bearer.
  func admits(_ request: Request) -> Bool {
    guard !isEmpty, request.headers.count(of: "X-API-Key") <= 1 else { return false }
    var given = request.headers.first("X-API-Key")
    if given == nil, case .bearer(let token) = request.authorization { given = token }
    guard let given else { return false }
    let digest = sha256(Array(given.utf8))
    return !digests.filter { constantTimeEqual($0, digest) }.isEmpty
  }
}
