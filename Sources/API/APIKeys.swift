internal import Crypto
internal import Domain
internal import HTTPServer
internal import Wire

/// The keys by which apps name themselves. They ship inside apps, so they protect nothing; they are compared in
/// constant time all the same, by digest, so that not even their length shows.
struct APIKeys: Sendable {
  private let digests: [[UInt8]]

  init(_ keys: [Secret<String>]) {
    digests = keys.map { sha256(Array($0.reveal().utf8)) }
  }

  /// Returns when no keys are set, or when the request brings one of them as `X-API-Key` or `?key=`.
  func check(_ request: Request) throws(Failure) {
    guard !digests.isEmpty else { return }
    guard request.headers.count(of: "X-API-Key") <= 1 else { throw Failure(.apiKeyInvalid) }
    guard let given = request.headers.first("X-API-Key") ?? queryKey(request), !given.isEmpty else {
      throw Failure(.apiKeyMissing)
    }
    let digest = sha256(Array(given.utf8))
    // Every key is compared: which one it was shows no more than whether it was one.
    let matches = digests.filter { constantTimeEqual($0, digest) }
    if matches.isEmpty { throw Failure(.apiKeyInvalid) }
  }

  private func queryKey(_ request: Request) -> String? {
    guard let query = request.query, let fields = try? FormBody(parsing: query.utf8) else { return nil }
    return fields["key"]
  }
}
