internal import CCurl
internal import Domain

/// One request on its way through libcurl.
///
/// libcurl holds a pointer to it, for the callbacks and to find it again: it must not go away between the
/// adding to and the removing from a multi handle. The loop's table keeps it for exactly that long, so the
/// pointer itself is unretained. The easy handle and the header list are freed by `deinit`.
@safe
final class Transfer {
  /// Bytes of all header lines of an answer, interim answers and trailers with them.
  private static let headerLimit = 64 * 1024

  let exchange: Exchange
  private let easy: UnsafeMutableRawPointer
  private var headers: UnsafeMutablePointer<curl_slist>?
  private var body: [UInt8] = []
  private var headerBytes = 0
  /// Set before a callback refuses, because libcurl's own code says only that one did.
  private var refusal: FetchError?

  /// Nil when libcurl is out of memory or lacks an option that we rely on.
  init?(_ exchange: Exchange, to address: Address, userAgent: String, authorityFile: String?) {
    guard let easy = unsafe curl_easy_init() else { return nil }
    self.exchange = exchange
    unsafe self.easy = easy
    guard setLimits(), setAddress(address), setTrust(authorityFile), setMessage(userAgent: userAgent),
      setReceivers()
    else { return nil }
  }

  deinit {
    unsafe curl_easy_cleanup(easy)
    unsafe curl_slist_free_all(headers)
  }

  /// Lends the handle to the loop.
  func withHandle<Result>(_ body: (UnsafeMutableRawPointer) -> Result) -> Result {
    unsafe body(easy)
  }

  /// What came of it, once libcurl has finished with this code.
  func outcome(_ code: CURLcode) -> Outcome {
    if let refusal { return .failure(refusal) }
    guard code == CURLE_OK else { return .failure(FetchError(code: code)) }
    var status = 0
    var contentType: UnsafePointer<CChar>?
    guard unsafe ccurl_get_long(easy, CURLINFO_RESPONSE_CODE, &status) == CURLE_OK,
      unsafe ccurl_get_text(easy, CURLINFO_CONTENT_TYPE, &contentType) == CURLE_OK,
      (100...999).contains(status)
    else { return .failure(.broken) }
    return .success(
      FetchResponse(
        status: status, contentType: unsafe contentType.flatMap { unsafe String(validatingCString: $0) },
        date: header("Date"), cacheControl: header("Cache-Control"),
        retryAfter: header("Retry-After"), body: body))
  }

  /// The last value of a header of the final answer.
  private func header(_ name: String) -> String? {
    var found: UnsafeMutablePointer<curl_header>?
    guard unsafe curl_easy_header(easy, name, 0, UInt32(CURLH_HEADER), -1, &found) == CURLHE_OK,
      let value = unsafe found?.pointee.value
    else { return nil }
    return unsafe String(validatingCString: value)
  }

  /// Takes a piece of the body; false to end the transfer.
  fileprivate func take(body piece: UnsafeRawBufferPointer) -> Bool {
    guard piece.count <= exchange.request.bodyLimit - body.count else {
      refusal = .bodyTooLarge
      return false
    }
    unsafe body.append(contentsOf: piece)
    return true
  }

  /// Counts a header line; false to end the transfer.
  fileprivate func take(headerLine count: Int) -> Bool {
    headerBytes += count
    guard headerBytes <= Self.headerLimit else {
      refusal = .broken
      return false
    }
    return true
  }
}

// MARK: - Options

extension Transfer {
  private func setLimits() -> Bool {
    let request = exchange.request
    // Zero would mean libcurl's own default, or no limit at all.
    return set(CURLOPT_CONNECTTIMEOUT_MS, Int(clamping: max(1, request.connectMilliseconds)))
      && set(CURLOPT_TIMEOUT_MS, Int(clamping: max(1, request.totalMilliseconds)))
      // A body that is announced too large is refused before its first byte; `take(body:)` sees to the rest.
      && (unsafe ccurl_set_size(easy, CURLOPT_MAXFILESIZE_LARGE, curl_off_t(max(1, request.bodyLimit))))
        == CURLE_OK
      // No signals for name look-ups; a SIGPIPE is blocked in the loop's thread.
      && set(CURLOPT_NOSIGNAL, 1)
      // A name look-up that hangs must not hold the loop when its transfer has timed out.
      && set(CURLOPT_QUICK_EXIT, 1)
  }

  private func setAddress(_ address: Address) -> Bool {
    set(CURLOPT_URL, exchange.request.url)
      && set(CURLOPT_PROTOCOLS_STR, address.scheme.rawValue)
      && set(CURLOPT_FOLLOWLOCATION, 0)
      && set(CURLOPT_DISALLOW_USERNAME_IN_URL, 1)
      // Empty, not absent: an absent one is read from the environment.
      && set(CURLOPT_PROXY, "")
      && set(CURLOPT_NETRC, Int(CURL_NETRC_IGNORED.rawValue))
      // One exchange a connection at a time: a stalled one holds up no other, and there is one parser less.
      && set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
      && set(CURLOPT_HTTP09_ALLOWED, 0)
  }

  private func setTrust(_ authorityFile: String?) -> Bool {
    guard set(CURLOPT_SSL_VERIFYPEER, 1), set(CURLOPT_SSL_VERIFYHOST, 2),
      set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
    else { return false }
    guard let authorityFile else { return true }
    return set(CURLOPT_CAINFO, authorityFile)
      && (unsafe ccurl_set_text(easy, CURLOPT_CAPATH, nil)) == CURLE_OK
  }

  private func setMessage(userAgent: String) -> Bool {
    let request = exchange.request
    guard set(CURLOPT_USERAGENT, userAgent) else { return false }
    switch request.method {
    case .get:
      guard set(CURLOPT_HTTPGET, 1) else { return false }
    case .post:
      let code = unsafe request.body.withUnsafeBytes { bytes in
        unsafe ccurl_set_body(easy, bytes.baseAddress, bytes.count)
      }
      // A wait for "100 Continue", and a form's content type that the caller did not ask for.
      guard code == CURLE_OK, add(header: "Expect:") else { return false }
      if !request.headers.contains(where: { isContentType($0.name) }) {
        guard add(header: "Content-Type:") else { return false }
      }
    }
    for (name, value) in request.headers {
      // For libcurl "Name:" takes a header away and "Name;" sends an empty one.
      guard add(header: value.isEmpty ? "\(name);" : "\(name): \(value)") else { return false }
    }
    return unsafe ccurl_set_headers(easy, headers) == CURLE_OK
  }

  private func setReceivers() -> Bool {
    let pointer = unsafe Unmanaged.passUnretained(self).toOpaque()
    return unsafe ccurl_set_pointer(easy, CURLOPT_PRIVATE, pointer) == CURLE_OK
      && ccurl_set_pointer(easy, CURLOPT_WRITEDATA, pointer) == CURLE_OK
      && ccurl_set_receiver(easy, CURLOPT_WRITEFUNCTION, receiveBody) == CURLE_OK
      && ccurl_set_pointer(easy, CURLOPT_HEADERDATA, pointer) == CURLE_OK
      && ccurl_set_receiver(easy, CURLOPT_HEADERFUNCTION, receiveHeader) == CURLE_OK
  }

  private func set(_ option: CURLoption, _ value: Int) -> Bool {
    unsafe ccurl_set_long(easy, option, value) == CURLE_OK
  }

  private func set(_ option: CURLoption, _ value: String) -> Bool {
    unsafe ccurl_set_text(easy, option, value) == CURLE_OK
  }

  private func add(header line: String) -> Bool {
    // On failure the list stays as it was.
    guard let longer = unsafe curl_slist_append(headers, line) else { return false }
    unsafe headers = longer
    return true
  }
}

/// Whether a header's name is `Content-Type` in any case of its letters.
private func isContentType(_ name: String) -> Bool {
  name.utf8.elementsEqual("content-type".utf8) { $0 | 0x20 == $1 }
}

// MARK: - Callbacks

/// Finds the transfer that libcurl finished, from its easy handle.
func transfer(of easy: UnsafeMutableRawPointer) -> Transfer? {
  var pointer: UnsafeMutableRawPointer?
  guard unsafe ccurl_get_pointer(easy, CURLINFO_PRIVATE, &pointer) == CURLE_OK, let found = unsafe pointer
  else { return nil }
  return unsafe Unmanaged<Transfer>.fromOpaque(found).takeUnretainedValue()
}

/// libcurl's call with a piece of the body; a count other than the piece's ends the transfer.
private func receiveBody(
  _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ transfer: UnsafeMutableRawPointer?
) -> Int {
  let total = size * count
  guard total > 0, let transfer = unsafe transfer, let bytes = unsafe bytes else { return 0 }
  let receiver = unsafe Unmanaged<Transfer>.fromOpaque(transfer).takeUnretainedValue()
  return unsafe receiver.take(body: UnsafeRawBufferPointer(start: bytes, count: total)) ? total : 0
}

/// libcurl's call with one header line, whole.
private func receiveHeader(
  _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ transfer: UnsafeMutableRawPointer?
) -> Int {
  let total = size * count
  guard total > 0, let transfer = unsafe transfer else { return 0 }
  let receiver = unsafe Unmanaged<Transfer>.fromOpaque(transfer).takeUnretainedValue()
  return receiver.take(headerLine: total) ? total : 0
}
