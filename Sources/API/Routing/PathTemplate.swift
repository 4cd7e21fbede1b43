/// A path with `{name}` in place of what varies: `/v1/projects/{project}/accounts:lookup`. A name may have a tail in
/// its segment, as in `{project}:createSessionCookie`.
package struct PathTemplate: Sendable, Equatable {
  private enum Segment: Sendable, Equatable {
    case literal([UInt8])
    case parameter(name: String, tail: [UInt8])
  }

  private let segments: [Segment]

  /// Reads a template; a segment that does not begin with `{name}` stands for itself.
  package init(_ text: String) {
    segments = text.split(separator: "/", omittingEmptySubsequences: false).map { segment in
      guard segment.first == "{", let end = segment.firstIndex(of: "}") else {
        return .literal(Array(segment.utf8))
      }
      let tail = segment[segment.index(after: end)...]
      return .parameter(name: String(segment.dropFirst().prefix { $0 != "}" }), tail: Array(tail.utf8))
    }
  }

  /// Whether nothing in it varies.
  package var isExact: Bool {
    segments.allSatisfy { if case .literal = $0 { true } else { false } }
  }

  /// How many pieces `/` makes; a path with another number cannot match.
  package var segmentCount: Int { segments.count }

  /// How many bytes stand for themselves. Of two templates that match, the one with more says more.
  package var literalCount: Int {
    segments.reduce(0) { count, segment in
      switch segment {
      case .literal(let bytes): count + bytes.count
      case .parameter(_, let tail): count + tail.count
      }
    }
  }

  /// What stands for the names, byte for byte as sent; nil when the path is another. A name stands for one byte or
  /// more, so that `/v1/projects//accounts` has no project rather than an empty one.
  package func match(_ path: String) -> [String: String]? {
    let pieces = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    guard pieces.count == segments.count else { return nil }
    var parameters: [String: String] = [:]
    for (segment, piece) in zip(segments, pieces) {
      switch segment {
      case .literal(let bytes):
        guard piece.elementsEqual(bytes) else { return nil }
      case .parameter(let name, let tail):
        guard piece.count > tail.count, piece.suffix(tail.count).elementsEqual(tail),
          let value = String(piece.dropLast(tail.count))
        else { return nil }
        parameters[name] = value
      }
    }
    return parameters
  }

  /// The pieces that `/` makes of a path.
  static func segmentCount(of path: String) -> Int {
    1 + path.utf8.count { $0 == UInt8(ascii: "/") }
  }
}
