import Foundation
import Testing

@testable import BramleyClient

/// Who may take whose place in the store: the one rule, as a value.
@Suite struct RuleTests {
  private func session(
    _ id: String, trades: Int = 0, at time: TimeInterval = 100, uid: String = "ann", name: String? = nil
  ) -> StoredSession {
    StoredSession(
      uid: uid, sessionID: id, idToken: "t", refreshToken: "\(id)-\(trades)", trades: trades, issuedAt: time,
      receivedAt: Date(timeIntervalSince1970: 0), expiresAt: Date(timeIntervalSince1970: 3600), steadyAt: 0,
      profile: Profile(displayName: name))
  }

  private let id = UUID()

  private func attempt(_ text: String, _ purpose: Attempt.Purpose = .signIn) -> Attempt {
    Attempt(purpose: purpose, body: Data(text.utf8), begunAt: Date(timeIntervalSince1970: 0), id: id)
  }

  @Test func `later tokens take the place of earlier ones of their session, and of nothing else`() {
    var state = StoredState()
    state.renew(session("s", trades: 1))
    #expect(state == StoredState())
    let present = session("s", trades: 2, at: 200, name: "Ann")
    state.session = present
    for other in [
      session("s", trades: 1, at: 300), session("s", trades: 2, at: 200), session("r", trades: 9, at: 900),
      session("s", trades: 9, at: 900, uid: "bob"),
    ] {
      state.renew(other)
      #expect(state.session == present)
    }
    state.renew(session("s", trades: 2, at: 201))
    #expect(state.session?.issuedAt == 201)
    state.renew(session("s", trades: 3, at: 190))
    #expect(state.session?.refreshToken == "s-3")
    // What has been learnt of the person meanwhile stays.
    #expect(state.session?.profile.displayName == "Ann")
    #expect(state.endings == [])
  }

  @Test func `a sign-in takes any place, unless something took its own`() {
    var state = StoredState(session: session("s"))
    #expect(state.put(attempt("a")) == attempt("a"))
    #expect(state.finish(attempt("a"), with: session("r")) == .signedIn)
    #expect(state == StoredState(session: session("r"), endings: ["s-0"]))
    // Another process with the same answer, which the first has gone on from.
    state.session = session("r", trades: 2)
    _ = state.put(attempt("a"))
    for _ in 0..<2 {
      #expect(state.finish(attempt("a"), with: session("r")) == .signedIn)
      #expect(state == StoredState(session: session("r", trades: 2), endings: ["s-0"]))
    }
    // A later sign-in, and a sign-out.
    for superseding in [attempt("b"), nil] {
      state = StoredState(session: session("s"), attempt: superseding)
      #expect(state.finish(attempt("a"), with: session("r")) == .superseded)
      #expect(state == StoredState(session: session("s"), attempt: superseding, endings: ["r-0"]))
    }
  }

  @Test func `the same sign-in again is the first, and another is another`() {
    var state = StoredState()
    var first = attempt("a", .link(uid: "ann"))
    first.bearer = "b"
    _ = state.put(first)
    #expect(state.put(attempt("a", .link(uid: "ann"))).bearer == "b")
    #expect(state.attempt == first)
    #expect(state.put(attempt("a")).bearer == nil)
    state.drop(attempt("a"))
    #expect(state.attempt == nil)
  }

  @Test func `the service's word ends the tokens that it was said of`() {
    for other in [session("s", trades: 1), session("r")] {
      var state = StoredState(session: other)
      state.forget(session("s"))
      #expect(state.session == other)
    }
    var state = StoredState(session: session("s"))
    state.forget(session("s"))
    #expect(state == StoredState())
  }

  @Test func `whoever signs out signs out that person`() {
    var state = StoredState(session: session("s"), attempt: attempt("a"))
    state.leave("bob", isGone: false)
    #expect(state == StoredState(session: session("s"), attempt: attempt("a")))
    for uid in ["ann", nil] {
      var state = state
      state.leave(uid, isGone: false)
      #expect(state == StoredState(endings: ["s-0"]))
    }
    state.leave("ann", isGone: true)
    #expect(state == StoredState())
    // Sixteen that the service does not know of are enough.
    for number in 0..<20 { state.reject(session("s\(number)")) }
    #expect(state.endings == (4..<20).map { "s\($0)-0" })
  }

  @Test func `a session that is to end, or has ended since, is nobody's`() {
    for isTold in [false, true] {
      var state = StoredState(session: session("s"))
      state.reject(session("r"))
      state.reject(session("r"))
      #expect(state.endings == ["r-0"])
      _ = state.put(attempt("a"))
      if isTold { state.told("r-0") }
      #expect(state.finish(attempt("a"), with: session("r")) == .over)
      #expect(state == StoredState(session: session("s"), endings: isTold ? [] : ["r-0"]))
    }
    // Who is signed in with it already, by another process, stays.
    var state = StoredState(session: session("s"))
    state.reject(session("s"))
    #expect(state == StoredState(session: session("s")))
  }

  @Test func `a refusal that comes late does not end the same sign-in when it has begun anew`() {
    let anew = Attempt(purpose: .signIn, body: Data("a".utf8), begunAt: .now, id: UUID())
    var state = StoredState(attempt: anew)
    state.drop(attempt("a"))
    #expect(state.attempt == anew)
    // A session does, for it is the same one.
    #expect(state.finish(attempt("a"), with: session("s")) == .signedIn)
    #expect(state.finish(anew, with: session("s")) == .signedIn)
    #expect(state == StoredState(session: session("s")))
  }

  @Test func `memory follows changes as they were made, and no look that began before it knew of one`() {
    var order = StoreOrder()
    let (early, late) = (order.nextNumber(), order.nextNumber())
    let look = order.nextNumber()
    let changes = [order.counts(change: late), order.counts(change: early)]
    #expect(changes == [true, false])
    var looks = [order.counts(look: look)]
    let (earlier, later) = (order.nextNumber(), order.nextNumber())
    looks += [order.counts(look: later), order.counts(look: earlier)]
    #expect(looks == [false, true, false])
  }

  @Test(arguments: [
    ("https://example.com", "example.com"), ("https://example.com/", "example.com"),
    ("https://example.com:8443", "example.com-8443"), ("https://example.com/auth/", "example.com%2Fauth"),
    ("http://localhost:8080/a/b", "localhost-8080%2Fa%2Fb"),
    ("https://example.com/a-b", "example.com%2Fa%2Db"),
  ])
  func `every service has a store of its own`(_ address: String, _ name: String) throws {
    #expect(storeName(for: try #require(URL(string: address))) == name)
  }

  @Test func `memory beats the store only with later tokens of the same session`() {
    let known = session("s", trades: 2)
    func standing(_ stored: StoredSession?) -> StoredSession? {
      StoredState.standing(known: known, stored: stored)
    }
    #expect(standing(session("s", trades: 1)) == known)
    for stored in [session("s", trades: 3), session("r"), session("x", uid: "bob"), nil] {
      #expect(standing(stored) == stored)
    }
    #expect(StoredState.standing(known: nil, stored: known) == known)
  }

  @Test(arguments: [
    // Both clocks went on; the first was set back, and forth; the device was started anew; both at once.
    (1000.0, 1000.0, 2600.0), (100, 3500, 100), (3700, 100, 0), (1000, -50, 2600), (-61, 100, 0),
  ])
  func `a token is as old as the clock says that shows more`(
    _ passed: TimeInterval, _ steady: TimeInterval, _ remaining: TimeInterval
  ) {
    let session = session("s")
    #expect(session.remaining(at: Date(timeIntervalSince1970: passed), steady: steady) == remaining)
  }

  @Test func `what another version of the kit wrote is read as far as it can be`() throws {
    let claims =
      #"{"iat":100,"exp":3700,"auth_time":90,"sub":"ann","sid":"s","firebase":{"sign_in_provider":"apple.com"}}"#
    let token = "e30." + base64URLText(Array(claims.utf8)) + ".c2ln"
    let text =
      #"{"format":9,"attempt":7,"endings":{},"session":{"idToken":"\#(token)","refreshToken":"r","profile":[],"mood":"good"}}"#
    let state = try JSONDecoder().decode(StoredState.self, from: Data(text.utf8))
    #expect(state.session?.uid == "ann" && state.session?.sessionID == "s")
    #expect(state.session?.refreshToken == "r")
    #expect(state.session?.remaining(at: Date(), steady: 0) == 0)
    #expect(state.attempt == nil && state.endings == [])
    let whole = StoredState(session: state.session, attempt: attempt("a", .once), endings: ["x"])
    #expect(try JSONDecoder().decode(StoredState.self, from: try JSONEncoder().encode(whole)) == whole)
  }
}
