internal import CMicroHTTPD

/// Whether the library writes a field from what it knows; a second opinion would be a smuggling gift.
private func isLibraryField(_ name: String) -> Bool {
  switch name.utf8.count {
  case 4: equalsIgnoringASCIICase(name, "Date")
  case 10: equalsIgnoringASCIICase(name, "Connection")
  case 14: equalsIgnoringASCIICase(name, "Content-Length")
  case 17: equalsIgnoringASCIICase(name, "Transfer-Encoding")
  default: false
  }
}

/// Hands an answer to the library, which copies it.
///
/// - Returns: What the access callback returns: NO closes the connection.
func deliver(_ response: Response, on connection: OpaquePointer, closing: Bool) -> MHD_Result {
  let response = response.sendable
  guard let created = unsafe created(response) else { return .NO }
  // Queueing takes a reference of its own; ours goes at the end in any case.
  defer { unsafe MHD_destroy_response(created) }
  for field in response.headers.fields {
    // The library refuses empty values, which say nothing anyway.
    if field.value.isEmpty || isLibraryField(field.name) { continue }
    // Passed as they are, the texts would be copied to arrays first.
    let isAdded = unsafe field.name.withCString { name in
      unsafe field.value.withCString { unsafe MHD_add_response_header(created, name, $0) }
    }
    guard isAdded == .YES else { return .NO }
  }
  if response.closesConnection || closing {
    guard unsafe MHD_add_response_header(created, "Connection", "close") == .YES else { return .NO }
  }
  return unsafe MHD_queue_response(connection, UInt32(response.status), created)
}

/// The answer's body in the library's hands, and with it what is said of its length.
///
/// With 304 the library sends no body but its length, which is right when it is that of the 200 in its place
/// (RFC 9110 §8.6). A 304 made without that body must not speak of a length at all.
private func created(_ response: Response) -> OpaquePointer? {
  if response.status == 304, response.body.isEmpty {
    return unsafe cmicrohttpd_create_response_without_length()
  }
  return unsafe response.body.withUnsafeBytes { bytes in
    // MUST_COPY: the library neither keeps nor frees our bytes, and does not write to them.
    unsafe MHD_create_response_from_buffer(
      bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress), .RESPMEM_MUST_COPY)
  }
}
