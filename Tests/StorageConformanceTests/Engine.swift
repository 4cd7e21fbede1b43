import Domain
import Foundation
import PostgresStorage
import SQLiteStorage
import Storage
import Synchronization

/// What every behaviour of `Storage` is tested on.
enum Engine: String, CaseIterable, Sendable {
  case memory, sqlite, postgres

  /// Lends a new, empty storage, and stops it afterwards.
  ///
  /// - Parameter announces: Whether there is an app's back end that is told of accounts.
  func run(announces: Bool = false, _ body: (Desk) async throws -> Void) async throws {
    switch self {
    case .memory:
      try await body(Desk(storage: MemoryStorage(announces: announces)))
    case .sqlite:
      let folder = try Folder()
      let storage = try SQLiteStorage(path: folder.database, options: SQLiteOptions(announces: announces))
      do {
        try await body(Desk(storage: storage))
      } catch {
        await storage.stop()
        throw error
      }
      await storage.stop()
    case .postgres:
      let url = try await SharedServer.shared.newDatabase()
      let storage = try PostgresStorage(PostgresOptions(url: url, announces: announces))
      do {
        try await body(Desk(storage: storage))
      } catch {
        await storage.stop()
        throw error
      }
      await storage.stop()
    }
  }
}

/// A folder that goes when nobody has it any more.
final class Folder: Sendable {
  private static let next = Atomic(0)
  let path: String

  init() throws {
    let number = Folder.next.wrappingAdd(1, ordering: .relaxed).newValue
    path = NSTemporaryDirectory() + "storage-conformance-\(getpid())-\(number)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  var database: String { path + "/bramley.db" }
}

extension Entropy {
  /// Bytes that are the same in each run (SplitMix64).
  static func seeded(_ seed: UInt64) -> Entropy {
    let state = Atomic(seed)
    return Entropy { count in
      (0..<count).map { _ in
        var z = state.wrappingAdd(0x9E37_79B9_7F4A_7C15, ordering: .relaxed).newValue
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return UInt8(truncatingIfNeeded: z ^ (z >> 31))
      }
    }
  }
}
