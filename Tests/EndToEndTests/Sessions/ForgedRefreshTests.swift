import Testing
import Wire

/// Refresh tokens that nobody gave out.
@Suite(.timeLimit(.minutes(10)))
struct ForgedRefreshTests {
  /// Transactions that the database has had, those that only read included.
  private func transactions(_ service: Service) async throws -> Double {
    let answer = try await service.get("/metrics")
    let row = String(decoding: answer.body, as: UTF8.self).split(separator: "\n").first {
      $0.hasPrefix("bramley_storage_transactions_total ")
    }
    return try #require(row?.split(separator: " ").last.flatMap { Double($0) })
  }

  @Test func `a flood of them touches no database`() async throws {
    try await withService { service in
      let person = try await service.signIn(Mint.credential())
      let genuine = try decodeBase64URL(person.refreshToken.utf8)
      var random = SeededGenerator(seed: 11)
      func forged(_ number: Int) -> String {
        var bytes = genuine
        // A bit of the code, of the counter, of the session, of the master key's name.
        let place = [29..<bytes.count, 25..<29, 9..<25, 1..<9][number % 4].randomElement(using: &random) ?? 9
        bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        return base64URLText(bytes)
      }
      let (before, begun) = (try await transactions(service), ContinuousClock.now)
      for _ in 0..<20 {
        let tokens = (0..<50).map(forged)
        for answer in try await inParallel(50, port: service.port, { .refresh(tokens[$0]) }) {
          try expect(answer, is: .session("refresh_token_unknown"))
        }
      }
      let moved = try await transactions(service) - before
      // The service looks after its keys and its audit a few times a second all the while.
      let seconds = Double((ContinuousClock.now - begun).components.seconds)
      #expect(moved < 50 + 10 * seconds, "\(moved) transactions for 1000 forged tokens")
      // And it is a counter that moves.
      var token = person.refreshToken
      let refreshed = try await transactions(service)
      for _ in 0..<20 { token = try await service.refresh(token) }
      #expect(try await transactions(service) - refreshed >= 20)
    }
  }
}
