import Testing

/// Comparisons that let somebody in.
@Suite struct SecretComparisonTests {
  @Test(arguments: [
    "Sources/AppleIdentity/NonceCheck.swift", "Sources/API/APIKeys.swift",
    "Sources/API/AdminTokens.swift",
    "Sources/Sessions/RefreshToken.swift",
    "Sources/Sessions/Challenge.swift", "Sources/Crypto/MAC.swift",
  ])
  func `attack 32 a secret is compared in constant time, and by nothing else`(_ path: String) throws {
    let file = try #require(SourceTree.sources.first { $0.path == path })
    #expect(file.code.contains("constantTimeEqual(") || file.code.contains(".isCode("))
    for word in ["hexText(mac) ==", "mac ==", "code ==", "digest ==", "elementsEqual(digest", ".reveal() =="]
    {
      #expect(!file.code.contains(word), "\(word)")
    }
  }

  @Test func `attack 32 what compares in constant time is OpenSSL's`() throws {
    let file = try #require(SourceTree.sources.first { $0.path == "Sources/Crypto/Digest.swift" })
    #expect(file.code.contains("CRYPTO_memcmp("))
  }
}
