import BramleyVerifier
import Domain
import TestSupport
import Testing

/// What becomes of keys while the verifier runs.
@Suite(.timeLimit(.minutes(3)))
struct PublishedKeysTests {
  private let clock = ManualClock()
  private var claims: SessionClaims { SessionClaims(issuedAt: clock.now) }

  @Test func `after a rotation the new key is fetched once, and the old one goes on`() async throws {
    let (old, new) = (try SigningKey(), try SigningKey())
    let issuer = IssuerDouble(old)
    let verifier = issuer.verifier(clock)
    let before = try old.token(claims)
    _ = try await verifier.verify(before)
    clock.advance(31)
    issuer.publish([old, new])
    for _ in 0..<5 { _ = try await verifier.verify(new.token(claims)) }
    _ = try await verifier.verify(before)
    #expect(issuer.keyFetches == 2)
  }

  @Test func `a key that was withdrawn is not believed after the next refresh`() async throws {
    let (leaked, standby) = (try SigningKey(), try SigningKey())
    let issuer = IssuerDouble(leaked, standby)
    let verifier = issuer.verifier(clock)
    let token = try leaked.token(claims)
    _ = try await verifier.verify(token)
    issuer.publish([standby])
    clock.advance(700)
    await refresh(verifier, issuer)
    await #expect(throws: VerificationError.unknownKey) { try await verifier.verify(token) }
  }

  /// Makes a refresh that is due happen, to its end.
  private func refresh(_ verifier: SessionVerifier, _ issuer: IssuerDouble) async {
    issuer.hold()
    verifier.tick()
    await issuer.keysAreAskedFor()
    issuer.release()
    // A name that nobody knows waits for the fetch that is under way.
    if let stranger = try? SigningKey(), let token = try? stranger.token(claims) {
      _ = try? await verifier.verify(token)
    }
  }

  @Test func `keys are refreshed before their time is over, and no request waits for that`() async throws {
    let key = try SigningKey()
    let issuer = IssuerDouble(key)
    let verifier = issuer.verifier(clock)
    _ = try await verifier.verify(key.token(claims))
    clock.advance(674)
    verifier.tick()
    #expect(issuer.keyFetches == 1)
    clock.advance(1)
    issuer.hold()
    verifier.tick()
    await issuer.keysAreAskedFor()
    for _ in 0..<10 { _ = try await verifier.verify(key.token(claims)) }
    #expect(issuer.keyFetches == 2)
    issuer.release()
  }

  @Test(arguments: [nil, "no-store", "max-age=", "max-age=-1", "max-age=99999999999999999999"])
  func `without a max-age keys are refreshed every five minutes`(_ header: String?) async throws {
    let key = try SigningKey()
    let issuer = IssuerDouble(key)
    issuer.setCacheControl(header)
    let verifier = issuer.verifier(clock)
    _ = try await verifier.verify(key.token(claims))
    clock.advance(299)
    verifier.tick()
    #expect(issuer.keyFetches == 1)
    clock.advance(1)
    issuer.hold()
    verifier.tick()
    await issuer.keysAreAskedFor()
    issuer.release()
  }

  @Test func `unknown names cause one fetch a cool-down`() async throws {
    let (key, stranger) = (try SigningKey(), try SigningKey())
    let issuer = IssuerDouble(key)
    let verifier = issuer.verifier(clock)
    for round in 1...3 {
      for _ in 0..<50 {
        await #expect(throws: VerificationError.unknownKey) {
          try await verifier.verify(stranger.token(claims))
        }
      }
      #expect(issuer.keyFetches == round)
      clock.advance(30)
    }
  }

  @Test func `while the issuer is out of reach its keys are good for a day`() async throws {
    let (key, new) = (try SigningKey(), try SigningKey())
    let issuer = IssuerDouble(key)
    let verifier = issuer.verifier(clock)
    _ = try await verifier.verify(key.token(claims))
    issuer.setDown(true)
    clock.advance(86_399)
    _ = try await verifier.verify(key.token(claims))
    clock.advance(31)
    await #expect(throws: VerificationError.keysUnavailable) { try await verifier.verify(key.token(claims)) }
    await #expect(throws: VerificationError.keysUnavailable) { try await verifier.verify(new.token(claims)) }
    issuer.setDown(false)
    clock.advance(31)
    _ = try await verifier.verify(key.token(claims))
  }

  @Test func `how long an outage is borne is the caller's to say`() async throws {
    let key = try SigningKey()
    let issuer = IssuerDouble(key)
    var policy = KeyPolicy()
    policy.outageTolerance = .seconds(1000)
    let verifier = issuer.verifier(clock, keyPolicy: policy)
    _ = try await verifier.verify(key.token(claims))
    issuer.setDown(true)
    clock.advance(999)
    _ = try await verifier.verify(key.token(claims))
    clock.advance(1)
    await #expect(throws: VerificationError.keysUnavailable) { try await verifier.verify(key.token(claims)) }
  }

  @Test(arguments: [("", 200), ("<html>", 200), (#"{"keys":[]}"#, 200), ("{}", 200), (#"{"keys":[]}"#, 500)])
  func `nonsense does not replace good keys`(_ body: String, _ status: Int) async throws {
    let key = try SigningKey()
    let issuer = IssuerDouble(key)
    let verifier = issuer.verifier(clock)
    _ = try await verifier.verify(key.token(claims))
    issuer.publish(bytes: Array(body.utf8), status: status)
    clock.advance(900)
    await refresh(verifier, issuer)
    _ = try await verifier.verify(key.token(claims))
  }

  @Test func `an issuer that is down at the start is asked again later`() async throws {
    let key = try SigningKey()
    let issuer = IssuerDouble(key)
    issuer.setDown(true)
    let verifier = issuer.verifier(clock)
    await #expect(throws: VerificationError.keysUnavailable) { try await verifier.verify(key.token(claims)) }
    issuer.setDown(false)
    await #expect(throws: VerificationError.keysUnavailable) { try await verifier.verify(key.token(claims)) }
    clock.advance(1)
    await refresh(verifier, issuer)
    _ = try await verifier.verify(key.token(claims))
    #expect(issuer.keyFetches == 2)
  }

  @Test func `a thousand requests at once cause one fetch`() async throws {
    let (old, new) = (try SigningKey(), try SigningKey())
    let issuer = IssuerDouble(old)
    let verifier = issuer.verifier(clock)
    let (before, after) = (try old.token(claims), try new.token(claims))
    _ = try await verifier.verify(before)
    clock.advance(31)
    issuer.publish([old, new])
    issuer.hold()
    let accepted = await withTaskGroup(of: Bool.self) { group in
      for index in 0..<1000 {
        group.addTask { (try? await verifier.verify(index.isMultiple(of: 2) ? before : after)) != nil }
      }
      await issuer.keysAreAskedFor()
      // Tokens of the old key do not wait for it.
      _ = try? await verifier.verify(before)
      issuer.release()
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(accepted == 1000)
    #expect(issuer.keyFetches == 2)
  }
}
