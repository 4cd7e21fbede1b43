import Testing

@testable import Load

private func head(_ text: String) -> AnswerProgress {
  let bytes = Array(text.utf8)
  return readHead(bytes, count: bytes.count)
}

private func answer(_ body: String, status: Int = 200) -> Answer {
  let bytes = Array(body.utf8)
  return Answer(status: status, buffer: bytes, body: 0..<bytes.count)
}

@Suite struct AnswerTests {
  @Test func `the head says status, length and whether the connection ends`() {
    let text = "HTTP/1.1 404 Not Found\r\nDate: x\r\ncontent-LENGTH:  12\r\nConnection: Close\r\n\r\n"
    #expect(
      head(text + "123")
        == .head(AnswerHead(status: 404, bodyStart: text.utf8.count, bodyLength: 12, closes: true)))
  }

  @Test func `a head that came in part is waited for, at each of its bytes`() {
    let text = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n"
    let bytes = Array(text.utf8)
    for count in 0..<bytes.count { #expect(readHead(bytes, count: count) == .partial, "\(count)") }
    #expect(head(text) == .head(AnswerHead(status: 200, bodyStart: text.utf8.count, bodyLength: 3)))
  }

  @Test(arguments: [
    "SSH-2.0-OpenSSH_9.2\r\n", "HTTP/1.1 2x0 OK\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 999999999\r\n\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
  ])
  func `what is no answer with a length is broken`(_ text: String) {
    #expect(head(text) == .broken)
  }

  @Test func `an answer without a body needs no length`() {
    #expect(head("HTTP/1.1 204 No Content\r\n\r\n") == .head(AnswerHead(status: 204, bodyStart: 27)))
  }

  @Test func `members are found by their whole names`() {
    let found = answer(#"{"oauthIdToken":"a","idToken":"b.c","n":5}"#)
    #expect(found.member("idToken").map { Array($0) } == Array("b.c".utf8))
    #expect(found.member("Token") == nil)
    #expect(found.member("n") == nil)
    #expect(answer(#"{"idToken":"b"#).member("idToken") == nil)
    #expect(answer("").member("idToken") == nil)
  }

  @Test func `of several reasons the one in the details counts`() {
    let body =
      #"{"error":{"code":400,"errors":[{"reason":"invalid"}],"details":[{"reason":"credential_already_used"}]}}"#
    #expect(answer(body, status: 400).hasReason("credential_already_used"))
    #expect(!answer(body, status: 400).hasReason("invalid"))
    #expect(!answer("{}").hasReason("invalid"))
  }
}

@Suite struct HostileWorkloadTests {
  private let tokens = AppleTokens(lines: Array("t1 n1\nt2 n2\nt3 n3\n".utf8))
  private let used = answer(#"{"error":{"details":[{"reason":"credential_already_used"}]}}"#, status: 400)

  private func session(_ name: String) -> Answer { answer(#"{"sessionId":"\#(name)","refreshToken":"r"}"#) }

  @Test func `a race that opens one session keeps the promise`() {
    var race = RaceWorkload(tokens, host: "h")
    race.beginVolley()
    #expect(race.took(session("a"), slot: 0) == .good)
    #expect(race.took(session("a"), slot: 1) == .good)
    #expect(race.took(used, slot: 2) == .expected)
    race.beginVolley()
    #expect(race.took(session("b"), slot: 0) == .good)
    #expect(race.findings.broken.isEmpty)
  }

  @Test func `a race that opens two sessions breaks it, and so does one that opens none`() {
    var race = RaceWorkload(tokens, host: "h")
    race.beginVolley()
    _ = race.took(session("a"), slot: 0)
    _ = race.took(session("b"), slot: 1)
    race.beginVolley()
    _ = race.took(used, slot: 0)
    let broken = race.findings.broken
    #expect(broken["one Apple token opened several sessions"] == 1)
    #expect(broken.count == 2)
  }

  @Test func `a race of which the server refuses everything for another reason breaks no promise, but fails`()
  {
    var race = RaceWorkload(tokens, host: "h")
    race.beginVolley()
    #expect(race.took(answer("{}", status: 503), slot: 0) == .bad)
    #expect(race.findings.broken.isEmpty)
  }

  @Test func `a replay collects the sessions, and after a refresh there must be none`() {
    var replay = ReplayWorkload(tokens, isSpent: false, host: "h")
    _ = replay.took(session("a"), slot: 0)
    _ = replay.took(session("a"), slot: 1)
    #expect(replay.findings.sessions.count == 1)
    #expect(replay.findings.broken.isEmpty)
    var again = ReplayWorkload(tokens, isSpent: true, host: "h")
    #expect(again.took(used, slot: 0) == .expected)
    #expect(again.findings.broken.isEmpty)
    _ = again.took(session("a"), slot: 0)
    #expect(again.findings.broken.count == 1)
  }

  @Test func `a mix keeps to its weights over any short time`() {
    let parts = [("/a", 1), ("/b", 3)].map { (PlainWorkload(path: $0.0, host: "h") as any Workload, $0.1) }
    var mix = MixWorkload(parts.map { (workload: $0.0, weight: $0.1) }, slots: 0..<1)
    var sent: [UInt8] = []
    for _ in 0..<8 { #expect(mix.appendRequest(slot: 0, to: &sent)) }
    let text = String(decoding: sent, as: UTF8.self)
    #expect(text.split(separator: "GET /a", omittingEmptySubsequences: false).count == 3)
    #expect(text.split(separator: "GET /b", omittingEmptySubsequences: false).count == 7)
  }

  @Test func `chains of refresh tokens follow the rotation`() {
    let grants = ["a", "b", "c"].map { Grant(sessionToken: [], refreshToken: Array($0.utf8)) }
    var refresh = RefreshWorkload(grants, host: "h", slots: 0..<1, allSlots: 1)
    func next() -> String {
      var sent: [UInt8] = []
      #expect(refresh.appendRequest(slot: 0, to: &sent))
      return String(String(decoding: sent, as: UTF8.self).split(separator: "=").last ?? "")
    }
    var presented: [String] = []
    for _ in 0..<6 {
      let token = next()
      presented.append(token)
      _ = refresh.took(answer(#"{"refresh_token":"\#(token)x"}"#), slot: 0)
    }
    #expect(Set(presented) == ["a", "b", "c", "ax", "bx", "cx"])
  }

  @Test func `every token is sent once, whichever thread sends it`() {
    var shares = (0..<2).map { TokenShare(tokens, thread: $0, threads: 2) }
    #expect([shares[0].take(), shares[1].take(), shares[0].take(), shares[1].take()] == [0, 1, 2, nil])
    #expect(tokens.token(1).elementsEqual("t2".utf8))
    #expect(tokens.nonce(2).elementsEqual("n3".utf8))
  }
}
