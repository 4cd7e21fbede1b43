import Domain
import Foundation
import TestProcesses
import Testing
import Wire

/// The rules of the master key: it is made once, kept private, and never made anew for data that needs the old.
@Suite(.timeLimit(.minutes(2)))
struct MasterKeyTests {
  /// A key that is the same in every run.
  private static func key(_ seed: UInt64) -> String {
    var random = SeededGenerator(seed: seed)
    return base64Text((0..<32).map { _ in UInt8.random(in: 0...255, using: &random) })
  }

  @Test func `the key is made beside the database, for its owner alone`() async throws {
    try await withStage { stage in
      let service = try await stage.start()
      let text = try String(contentsOfFile: stage.masterKeyFile, encoding: .utf8)
      #expect(try decodeBase64(text.trimmingCharacters(in: .newlines).utf8).count == 32)
      let mode =
        try FileManager.default.attributesOfItem(atPath: stage.masterKeyFile)[.posixPermissions] as? Int
      #expect(mode == 0o600)
      let databaseMode =
        try FileManager.default.attributesOfItem(atPath: stage.database)[.posixPermissions] as? Int
      #expect(databaseMode == 0o600)
      let left = try FileManager.default.contentsOfDirectory(atPath: stage.folder).filter {
        $0.hasPrefix("bramley.db.master-key")
      }
      #expect(left == ["bramley.db.master-key"])
      try await service.stop()
    }
  }

  @Test func `without its key a database that is not empty is refused, and no new key appears`() async throws
  {
    try await withStage { stage in
      try await stage.start().stop()
      try FileManager.default.removeItem(atPath: stage.masterKeyFile)
      let child = try stage.launch()
      #expect(try await child.ended() == .exit(78))
      let finished = try await stage.command("serve")
      #expect(finished.status == 78)
      #expect(finished.errors.contains("BRAMLEY_MASTER_KEY"))
      #expect(finished.errors.contains(stage.masterKeyFile))
      #expect(!FileManager.default.fileExists(atPath: stage.masterKeyFile))
    }
  }

  @Test func `a key file that cannot be read as one is refused`() async throws {
    try await withStage { stage in
      try await stage.start().stop()
      _ = try stage.write("not a key\n", to: "bramley.db.master-key")
      let finished = try await stage.command("serve")
      #expect(finished.status == 78)
      #expect(finished.errors.contains(stage.masterKeyFile))
    }
  }

  @Test func `a key that is set needs no file, and another one is refused`() async throws {
    try await withStage { stage in
      try await stage.start(["BRAMLEY_MASTER_KEY": Self.key(1)]).stop()
      #expect(!FileManager.default.fileExists(atPath: stage.masterKeyFile))
      let wrong = try await stage.command("serve", settings: ["BRAMLEY_MASTER_KEY": Self.key(2)])
      #expect(wrong.status == 78)
      #expect(wrong.errors.contains("belongs to another master key"))
      #expect(!wrong.errors.contains(Self.key(2)))
      #expect(!FileManager.default.fileExists(atPath: stage.masterKeyFile))
      try await stage.start(["BRAMLEY_MASTER_KEY": Self.key(1)]).stop()
    }
  }

  @Test func `the key may come from a file that is named`() async throws {
    try await withStage { stage in
      let path = try stage.write("  \(Self.key(3))\n", to: "key.txt")
      let token = try await {
        let service = try await stage.start(["BRAMLEY_MASTER_KEY_FILE": path])
        let token = try await service.signIn(Mint.credential()).refreshToken
        try await service.stop()
        return token
      }()
      _ = try await stage.start(["BRAMLEY_MASTER_KEY": Self.key(3)]).refresh(token)
      let both = ["BRAMLEY_MASTER_KEY_FILE": path, "BRAMLEY_MASTER_KEY": Self.key(3)]
      #expect(try await stage.command("config", "check", settings: both).status == 78)
    }
  }

  @Test(arguments: ["", "short", "AAAA", String(repeating: "A", count: 44), "\(key(4)),", "\(key(4)),x"])
  func `a key of the wrong form is a fault of the settings`(_ text: String) async throws {
    try await withStage { stage in
      let finished = try await stage.command("config", "check", settings: ["BRAMLEY_MASTER_KEY": text])
      // A trailing comma names no further key.
      #expect(finished.status == (text.hasSuffix(",") ? 0 : 78))
      #expect(finished.status == 0 || finished.errors.contains("BRAMLEY_MASTER_KEY"))
    }
  }

  @Test func `a key is changed without losing a session`() async throws {
    try await withStage { stage in
      let (old, new) = (Self.key(5), Self.key(6))
      let first = try await stage.start(["BRAMLEY_MASTER_KEY": old])
      let signedIn = try await first.signIn(Mint.credential())
      let current = try await first.refresh(signedIn.refreshToken)
      try await first.stop()

      // The new key last, as while other nodes do not know it yet.
      let second = try await stage.start(["BRAMLEY_MASTER_KEY": "\(old), \(new)"])
      #expect(try await second.refresh(signedIn.refreshToken) == current)
      try await second.stop()

      let third = try await stage.start(["BRAMLEY_MASTER_KEY": "\(new),\(old)"])
      // A repeat is made with the key of before, the next token with the new one.
      #expect(try await third.refresh(signedIn.refreshToken) == current)
      let next = try await third.refresh(current)
      #expect(try masterKeyID(of: next) != masterKeyID(of: current))
      #expect(try await third.refresh(current) == next)
      let list = try await stage.command(
        "keys", "list", "--json", settings: ["BRAMLEY_MASTER_KEY": "\(new),\(old)"])
      let counts = try #require(try list.json.object("liveSessionsByMasterKey"))
      #expect(counts.integer(try masterKeyID(of: next)) == 1)
      #expect(counts.names.count == 1)
      try await third.stop()
    }
  }

  /// The eight bytes behind the version, in hex: which key made a token.
  private func masterKeyID(of token: String) throws -> String {
    hexText(try decodeBase64URL(token.utf8)[1..<9])
  }

  @Test func `S07 two that start at once on nothing agree on one key, and both serve`() async throws {
    for _ in 0..<3 {
      try await withStage { stage in
        let children = [try stage.launch(), try stage.launch(), try stage.launch()]
        var services: [Service] = []
        for child in children {
          services.append(Service(process: child, port: try port(of: await ready(child))))
        }
        var keySets: Set<[UInt8]> = []
        for service in services { keySets.insert(try await service.get("/.well-known/jwks.json").body) }
        #expect(keySets.count == 1)
        let token = try await services[0].signIn(Mint.credential()).refreshToken
        let next = try await services[1].refresh(token)
        #expect(try await services[2].refresh(token) == next)
        let credential = try Mint.credential()
        let first = try await services[0].signIn(credential)
        #expect(try await services[1].signIn(credential).refreshToken == first.refreshToken)
      }
    }
  }
}
