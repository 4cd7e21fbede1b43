import CPostgres
import Foundation
import PostgresStorage
import Storage
import Synchronization
import TestProcesses

/// The server that the tests of one process share, and a schema of it for each that asks.
actor SharedServer {
  static let shared = SharedServer()
  private var starting: Task<PostgresServer, any Error>?
  private var schemas = 0

  /// The URL of a new, empty schema.
  func newDatabase() async throws -> String {
    let task = starting ?? Task { try await PostgresServer() }
    starting = task
    let server = try await task.value
    schemas += 1
    let name = "s\(schemas)"
    try execute("CREATE SCHEMA \(name)", at: server.url())
    return server.url(schema: name)
  }
}

/// Runs SQL beside the engine.
///
/// - Returns: The first column of the first row.
@discardableResult
func execute(_ sql: String, at url: String) throws -> String? {
  let connection = PQconnectdb(url)
  defer { PQfinish(connection) }
  let result = PQexec(connection, sql)
  defer { PQclear(result) }
  guard [PGRES_COMMAND_OK, PGRES_TUPLES_OK].contains(PQresultStatus(result)) else {
    throw ServerRefusal(words: String(cString: PQerrorMessage(connection)))
  }
  guard PQntuples(result) > 0, PQgetisnull(result, 0, 0) == 0 else { return nil }
  return String(cString: PQgetvalue(result, 0, 0))
}

struct ServerRefusal: Error {
  let words: String
}
