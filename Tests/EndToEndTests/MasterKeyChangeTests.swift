import Foundation
import TestProcesses
import Testing
import Wire

/// A master key is changed node by node, and nobody is logged out.
@Suite(.timeLimit(.minutes(10)))
struct MasterKeyChangeTests {
  private static func key(_ seed: UInt64) -> String {
    var random = SeededGenerator(seed: seed)
    return base64Text((0..<32).map { _ in UInt8.random(in: 0...255, using: &random) })
  }

  private let old = key(21)
  private let new = key(22)

  private func master(_ keys: String...) -> [String: String] {
    ["BRAMLEY_MASTER_KEY": keys.joined(separator: ","), "BRAMLEY_PUBLIC_URL": "https://auth.example.com"]
  }

  /// What `doctor` says of master keys.
  private func findings(_ stage: Stage, _ settings: [String: String]) async throws -> [String] {
    try await stage.command("doctor", "--json", settings: settings).json.objects("findings")
      .filter { $0.text("subject") == "master key" }
      .map { ($0.text("verdict") ?? "") + " " + ($0.text("detail") ?? "") }
  }

  @Test func `two nodes change it one after the other, and every session and token lives on`() async throws {
    try await withStage { stage in
      var nodes = [try await stage.start(master(old)), try await stage.start(master(old))]
      var session = try await nodes[0].signIn(Mint.credential()).refreshToken
      let idle = [
        try await nodes[1].signIn(Mint.credential()), try await nodes[0].signIn(Mint.credential()),
      ]
      let token = idle[0].idToken
      // Last in both lists, then first in both: at no time has a node to take what it cannot read.
      for list in [master(old, new), master(new, old)] {
        for index in nodes.indices {
          try await nodes[index].stop()
          nodes[index] = try await stage.start(list)
          for node in nodes {
            session = try await node.refresh(session)
            _ = try await node.read(token)
          }
        }
      }
      let needed = try await findings(stage, master(new, old))
      #expect(needed.contains { $0.hasPrefix("warning") && $0.contains("2 signing keys") })
      let rewrapped = try await stage.command("keys", "rewrap", "--json", settings: master(new, old))
      #expect(rewrapped.status == 0)
      #expect(try rewrapped.json.integer("rewrapped") == 2)
      let again = try await stage.command("keys", "rewrap", "--json", settings: master(new, old))
      #expect(try again.json.integer("rewrapped") == 0)
      #expect(
        try await findings(stage, master(new, old)).contains { $0.contains(" 0 signing keys and 2 live") })
      // Sessions that nobody used move with their next refresh.
      for session in idle { _ = try await nodes[0].refresh(session.refreshToken) }
      #expect(try await findings(stage, master(new, old)).contains { $0.hasPrefix("ok nothing") })
      for index in nodes.indices {
        try await nodes[index].stop()
        nodes[index] = try await stage.start(master(new))
        for node in nodes {
          session = try await node.refresh(session)
          _ = try await node.read(token)
        }
      }
    }
  }

  /// How many ends of the audit each master key signs.
  private func auditEnds(_ stage: Stage) async throws -> [String: Int64] {
    let list = try await stage.command("keys", "list", "--json", settings: master(new, old)).json
    let ends = try #require(list.object("auditEndsByMasterKey"))
    return Dictionary(uniqueKeysWithValues: ends.names.map { ($0, ends.integer($0) ?? 0) })
  }

  @Test func `the key that signed the audit is needed until a service has signed it with the first one`()
    async throws
  {
    try await withStage { stage in
      let first = try await stage.start(master(old))
      _ = try await first.signIn(Mint.credential())
      try await first.waits("the audit is not chained") { try await !auditEnds(stage).isEmpty }
      try await first.stop()
      let before = try await auditEnds(stage)
      #expect(before.values.map { $0 } == [1])
      #expect(
        try await findings(stage, master(new, old)).contains { $0.contains("the audit is signed with it") })
      let table = try await stage.command("keys", "list", settings: master(new, old)).output
      #expect(table.contains("signs the audit"))
      #expect(try await stage.command("audit", "verify", settings: master(new)).status == 78)
      let second = try await stage.start(master(new, old))
      try await second.waits("the old key still signs the audit") {
        try await auditEnds(stage).keys != before.keys
      }
      #expect(
        try await findings(stage, master(new, old)).allSatisfy { !$0.contains("the audit is signed with it") }
      )
      #expect(try await stage.command("audit", "verify", settings: master(new)).status == 0)
    }
  }

  @Test func `rewrapping signs the audit anew too`() async throws {
    try await withStage { stage in
      let first = try await stage.start(master(old))
      _ = try await first.signIn(Mint.credential())
      try await first.waits("the audit is not chained") { try await !auditEnds(stage).isEmpty }
      try await first.stop()
      #expect(try await stage.command("keys", "rewrap", settings: master(new, old)).status == 0)
      #expect(try await stage.command("audit", "verify", settings: master(new)).status == 0)
    }
  }

  @Test func `rewrapping needs every key that is in use, and changes nothing without it`() async throws {
    try await withStage { stage in
      try await stage.start(master(old)).stop()
      for list in [master(new), master(new, Self.key(23))] {
        let refused = try await stage.command("keys", "rewrap", settings: list)
        #expect(refused.status == 78)
        #expect(try await stage.command("keys", "rotate", "--force", settings: list).status == 78)
      }
      try await stage.start(master(old)).stop()
    }
  }

  @Test func `a node that lacks the new key takes part in a withdrawal, and signs with nothing else`()
    async throws
  {
    try await withStage { stage in
      let left = try await stage.start(master(old))
      let before = try await left.signIn(Mint.credential())
      // A busy machine may keep a node from looking in time, and then it says so.
      try await left.waits("the node does not know its own session") { try await left.admits(before.idToken) }
      let leaked = try #require(
        try await stage.command("keys", "list", "--json", settings: master(old)).json.objects("signingKeys")
          .first { $0.text("role") == "active" }?.text("kid"))
      // Under the new key, which one of the nodes was forgotten with.
      let rewrapped = try await stage.command("keys", "rewrap", settings: master(new, old))
      #expect(rewrapped.status == 0)
      #expect(rewrapped.output.contains("BRAMLEY_MASTER_KEY"))
      #expect(try await stage.command("keys", "rotate", "--force", settings: master(new, old)).status == 0)
      #expect(try await stage.command("keys", "rotate", "--force", settings: master(new, old)).status == 0)
      #expect(try await stage.command("keys", "revoke", leaked, settings: master(new, old)).status == 0)
      let right = try await stage.start(master(new, old))
      let session = try await right.signIn(Mint.credential())
      try await left.waits("the leaked key is believed no more") {
        try await left.get("/v1/verify", headers: [("Authorization", "Bearer \(before.idToken)")]).status
          == 401
      }
      let unavailable = Refusal(503, "UNAVAILABLE", "signing_key_unavailable")
      try await left.waits("the node takes itself for ready, or the database for lost") {
        try await left.get("/readyz").reason == "signing_key_unavailable"
      }
      // A good token of another node is not bad, and a session that it cannot sign for not lost.
      try expect(
        await left.get("/v1/verify", headers: [("Authorization", "Bearer \(session.idToken)")]),
        is: unavailable)
      try expect(await left.tryRefresh(before.refreshToken), is: unavailable)
      try expect(await left.trySignIn(Mint.credential()), is: unavailable)
      try await left.stop()
      let mended = try await stage.start(master(new, old))
      try await mended.waits("the mended node does not believe the other") {
        try await mended.admits(session.idToken)
      }
      _ = try await mended.refresh(before.refreshToken)
    }
  }

  @Test func `a list that lacks the key of live sessions is a warning, and of signing keys an end`()
    async throws
  {
    try await withStage { stage in
      let first = try await stage.start(master(old))
      let session = try await first.signIn(Mint.credential()).refreshToken
      try await first.stop()
      let before = try await stage.command("keys", "list", "--json", settings: master(old)).output
      #expect(try await stage.command("serve", settings: master(new)).status == 78)
      #expect(try await stage.command("keys", "list", "--json", settings: master(old)).output == before)
      #expect(try await stage.command("keys", "rewrap", settings: master(new, old)).status == 0)
      let early = try await stage.start(master(new))
      try await early.process.line { $0.contains(#""event":"master_key_missing""#) }
      try expect(
        await early.tryRefresh(session), is: Refusal(400, "TOKEN_EXPIRED", "refresh_token_unknown"))
      #expect(try await findings(stage, master(new)).contains { $0.hasPrefix("failed 1 live sessions") })
      try await early.stop()
      _ = try await stage.start(master(new, old)).refresh(session)
    }
  }
}
