internal import Storage

/// Writes what somebody else said and may not say again: a few times, since another process may hold the database for a
/// while.
func patiently<Value>(_ write: () async throws(StorageError) -> Value) async throws(StorageError) -> Value {
  for _ in 1..<5 {
    do throws(StorageError) {
      return try await write()
    } catch {
      try? await Task.sleep(for: .milliseconds(200))
    }
  }
  return try await write()
}
