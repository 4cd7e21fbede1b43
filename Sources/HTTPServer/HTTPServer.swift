//===-- HTTPServer --------------------------------------------------------===//
// A listener over libmicrohttpd that turns connections into requests and responses. It knows nothing of tokens.
//===------------------------------------------------------------------------===//
