import Foundation
import TestProcesses
import Testing
import Wire

/// `kill -9` at any moment of the very first start: the next start works.
@Suite(.timeLimit(.minutes(2)))
struct KillAtStartTests {
  @Test(arguments: [UInt64(11), 12, 13])
  func `a first start that is killed leaves nothing behind that stops the next one`(_ seed: UInt64)
    async throws
  {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<8 {
      try await withStage { stage in
        for _ in 0..<2 {
          let child = try stage.launch()
          let delay = UInt32.random(in: 0...60_000, using: &random)
          // Not to wait for something: the moment of the blow.
          _ = try await onThread { usleep(delay) }
          child.send(signal: SIGKILL)
          try await child.ended()
        }
        let service = try await stage.start()
        let token = try await service.signIn(Mint.credential()).refreshToken
        try await service.kill()
        _ = try await stage.start().refresh(token)
        #expect(try await stage.sql("PRAGMA integrity_check") == "ok")
        let keys = try FileManager.default.contentsOfDirectory(atPath: stage.folder).filter {
          $0 == "bramley.db.master-key"
        }
        #expect(keys.count == 1)
      }
    }
  }
}
