// What the kit uses of Apple's CryptoKit (developer.apple.com/documentation/cryptokit), to be compiled against.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public struct SHA256Digest: Sequence, Sendable {
  public func makeIterator() -> IndexingIterator<[UInt8]> { [].makeIterator() }
}

public enum SHA256 {
  public static func hash<D: Sequence>(data: D) -> SHA256Digest where D.Element == UInt8 { SHA256Digest() }
}
