/// Lends the bytes of a sequence in one piece, copied only where they do not lie so.
///
/// Loops over bytes are written over what this lends: a loop over `some Sequence` costs a call for each byte wherever
/// the compiler does not see both its body and its caller.
@inlinable
package func withBytes<Result, Failure: Error>(
  of bytes: some Sequence<UInt8>, _ body: (Span<UInt8>) throws(Failure) -> Result
) throws(Failure) -> Result {
  let outcome: Swift.Result<Result, Failure>? = bytes.withContiguousStorageIfAvailable { storage in
    do throws(Failure) {
      return .success(try body(unsafe storage.span))
    } catch {
      return .failure(error)
    }
  }
  if let outcome { return try outcome.get() }
  return try body(Array(bytes).span)
}
