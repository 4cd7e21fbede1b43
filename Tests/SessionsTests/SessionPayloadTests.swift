import Crypto
import Domain
import JOSE
import Sessions
import Storage
import TestSupport
import Testing
import Wire

/// Bytes of claims, without custom ones, that a token has room for.
private let room = Limits.sessionPayloadBytes

private func foreign(_ count: Int, subjectBytes: Int = 255) throws -> [LinkedIdentity] {
  try (0..<count).map { index in
    let subject = try #require(Subject(String(repeating: "f", count: subjectBytes)))
    return LinkedIdentity(ProviderIdentity(provider: "oidc.provider-\(10 + index)", subject: subject))
  }
}

private let longName = PersonName(
  givenName: String(repeating: "a", count: 100), familyName: String(repeating: "b", count: 100))

/// What is there of all that may be left out, in the order in which it goes.
private func parts(of claims: JSONObject) throws -> [Bool] {
  let identities = try #require(try claims.optionalObject("firebase")?.optionalObject("identities")).names
  return [
    identities.contains("email"), identities.contains { $0.hasPrefix("oidc.") }, claims["name"] != nil,
    identities.contains("apple.com"), claims["email"] != nil,
  ]
}

@Suite struct SessionPayloadTests {
  @Test(
    arguments: SignatureAlgorithm.allCases, ["a", "\""])
  func `J05 with the longest of everything a token is below two kibibytes`(
    _ algorithm: SignatureAlgorithm, _ letter: String
  ) async throws {
    let project = String(repeating: "p", count: 64)
    let bench = try SessionBench(
      rules(issuer: "https://securetoken.google.com/" + project, audience: project),
      key: algorithm == .rs256 ? TokenForge.apple.key : nil)
    let id = String(repeating: letter, count: 128)
    let subject = String(repeating: letter, count: 255)
    try await bench.register(
      id, subject: subject, email: String(repeating: "a", count: 318) + "@b",
      name: PersonName(
        givenName: String(repeating: "\"", count: 100), familyName: String(repeating: "\\", count: 100)),
      others: foreign(20))
    let issued = try await bench.issuer.signIn(bench.request(subject: subject, email: nil))
    let token = issued.idToken.reveal()
    #expect(token.utf8.count < 2048)
    #expect(try bench.issuer.verify(token).account.text == id)
    let names = try bench.claims(issued.idToken).names
    #expect(names.starts(with: ["iss", "aud", "sub", "user_id", "iat", "exp", "auth_time", "sid"]))
    #expect(names.last == "firebase")
  }

  @Test func `what has room is said, foreign identities too`() async throws {
    let bench = try SessionBench()
    try await bench.register(
      "account", email: "ada@example.com", name: longName, others: foreign(2, subjectBytes: 20))
    let claims = try bench.claims(try await bench.issuer.signIn(bench.request()).idToken)
    let identities = try #require(try claims.optionalObject("firebase")?.optionalObject("identities"))
    #expect(identities.names == ["apple.com", "oidc.provider-10", "oidc.provider-11", "email"])
    #expect(try parts(of: claims) == [true, true, true, true, true])
  }

  @Test func `nothing is left out that has room, to the byte, and each part goes before the next`()
    async throws
  {
    let bench = try SessionBench(rules(issuer: "https://" + String(repeating: "i", count: 300)))
    let mail = String(repeating: "a", count: 196) + "@b.c"
    var seen: [[Bool]] = []
    var fullest: [Int] = []
    for length in 1...255 {
      // Twice the name of the account, and once each of everything else: all grow together.
      let text = String(repeating: "s", count: length)
      let id = String(repeating: "i", count: min(length, 100)) + "\(length)"
      try await bench.register(
        id, subject: text, email: mail, name: longName, others: foreign(1, subjectBytes: length))
      let issued = try await bench.issuer.signIn(
        bench.request(subject: text, email: nil, digest: UInt8(length)))
      let payload = try bench.payload(issued.idToken)
      let there = try parts(of: JSONObject(parsing: payload))
      #expect(payload.count <= room)
      let left = there.count { $0 }
      #expect(
        Array(there.suffix(left)) == Array(repeating: true, count: left), "what goes first is gone first")
      if seen.last != there {
        seen.append(there)
        fullest.append(0)
      }
      fullest[fullest.count - 1] = payload.count
    }
    let counts = seen.map { there in there.count { $0 } }
    #expect(counts == [5, 4, 3, 2, 1])
    // One step of the loop adds at most four bytes of letters and two of digits.
    for size in fullest.dropLast() { #expect(size > room - 6) }
  }

  @Test(arguments: [
    (250, [false, false, false, true, true]), (300, [false, false, false, false, true]),
    (700, [false, false, false, false, false]),
  ])
  func `at last go the name, the identity and the address`(_ filler: Int, _ left: [Bool]) async throws {
    let bench = try SessionBench(rules(issuer: "https://" + String(repeating: "i", count: filler)))
    let subject = String(repeating: "s", count: 255)
    try await bench.register(
      String(repeating: "a", count: 60), subject: subject, email: String(repeating: "a", count: 258) + "@b",
      name: longName, others: foreign(1))
    let issued = try await bench.issuer.signIn(bench.request(subject: subject, email: nil))
    let claims = try bench.claims(issued.idToken)
    #expect(try parts(of: claims) == left)
    #expect(claims["email_verified"] == nil || left[4])
    #expect(try bench.issuer.verify(issued.idToken.reveal()).session == issued.session.id)
  }

  @Test func `an imported identity that is called like a member of ours is not said twice`() async throws {
    let bench = try SessionBench()
    let odd = LinkedIdentity(
      ProviderIdentity(provider: "email", subject: try #require(Subject("x@example.com"))))
    try await bench.register("account", email: "ada@example.com", others: [odd])
    let issued = try await bench.issuer.signIn(bench.request(email: nil))
    #expect(try bench.issuer.verify(issued.idToken.reveal()).session == issued.session.id)
    let claims = try bench.claims(issued.idToken)
    let identities = try #require(try claims.optionalObject("firebase")?.optionalObject("identities"))
    #expect(identities.names == ["apple.com", "email"])
    guard case .array(let addresses) = identities["email"], case .text(let address)? = addresses.first else {
      Issue.record("no address")
      return
    }
    #expect(address == "ada@example.com")
  }
}
