internal import CCurl
internal import Domain

extension FetchError {
  /// The one place where libcurl's codes become ours.
  init(code: CURLcode) {
    switch code {
    case CURLE_URL_MALFORMAT, CURLE_LOGIN_DENIED:
      self = .addressNotAllowed
    case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_CONNECT,
      CURLE_INTERFACE_FAILED:
      self = .couldNotConnect
    case CURLE_OPERATION_TIMEDOUT:
      self = .timedOut
    case CURLE_FILESIZE_EXCEEDED:
      self = .bodyTooLarge
    case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
      CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS, CURLE_USE_SSL_FAILED,
      CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_ENGINE_INITFAILED:
      self = .tlsFailed
    default:
      // Among them CURLE_UNSUPPORTED_PROTOCOL, libcurl's word for an answer without an HTTP status line.
      self = .broken
    }
  }
}
