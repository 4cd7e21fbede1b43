internal import CCurl

/// libcurl's multi handle: its connections and the transfers on them.
///
/// Freed when the last reference goes, which is after the loop's thread has ended; so a late wake-up finds a
/// handle that is still there.
@safe
// Sendable because everything but `wake()` is called by the loop's thread alone, and curl_multi_wakeup is the
// one call that libcurl allows from any thread; the thread sanitiser run of OutboundTests would notice another.
final class MultiHandle: @unchecked Sendable {
  private let multi: UnsafeMutableRawPointer

  init?() {
    guard libraryIsReady, let multi = unsafe curl_multi_init() else { return nil }
    unsafe self.multi = multi
  }

  deinit { unsafe curl_multi_cleanup(multi) }

  /// Ends a wait that is going on, or the next one.
  func wake() {
    unsafe curl_multi_wakeup(multi)
  }

  func add(_ transfer: Transfer) -> Bool {
    unsafe transfer.withHandle { unsafe curl_multi_add_handle(multi, $0) == CURLM_OK }
  }

  func remove(_ transfer: Transfer) {
    unsafe transfer.withHandle { _ = unsafe curl_multi_remove_handle(multi, $0) }
  }

  /// Moves every transfer on as far as it goes without waiting; false when libcurl itself has failed.
  func perform() -> Bool {
    var running: Int32 = 0
    return unsafe curl_multi_perform(multi, &running) == CURLM_OK
  }

  /// The next transfer that has ended, and libcurl's code for how.
  func nextFinished() -> (transfer: Transfer, code: CURLcode)? {
    var left: Int32 = 0
    while let message = unsafe curl_multi_info_read(multi, &left) {
      guard unsafe message.pointee.msg == CURLMSG_DONE, let easy = unsafe message.pointee.easy_handle,
        let found = unsafe transfer(of: easy)
      else { continue }
      return (found, unsafe ccurl_message_result(message))
    }
    return nil
  }

  /// Waits for a socket, a deadline of libcurl's own or a wake-up; false when libcurl itself has failed.
  func poll(atMost milliseconds: Int32) -> Bool {
    unsafe curl_multi_poll(multi, nil, 0, milliseconds, nil) == CURLM_OK
  }
}

/// libcurl's process-wide set-up, done once by whoever asks first.
private let libraryIsReady = ccurl_start() == CURLE_OK
