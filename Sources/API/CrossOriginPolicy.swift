internal import HTTPServer

/// Which pages may call from a browser (the Fetch standard, "CORS protocol"). The one cookie there
/// is names a browser at Apple's page and lets nobody in, and credentials are never allowed here: letting every origin in
/// gives a page nothing that it could not do without a browser.
struct CrossOriginPolicy: Sendable {
  private let allowed: [String]

  init(allowed: [String]) { self.allowed = allowed }

  /// Adds what every answer to a page needs, also an error: without it a page sees only "network failed".
  func add(to response: inout Response, for request: Request) {
    guard let origin = request.headers.first("Origin") else { return }
    if allowed == ["*"] {
      response.headers.append("Access-Control-Allow-Origin", "*")
    } else {
      response.headers.append("Vary", "Origin")
      guard allowed.contains(where: { $0.utf8.elementsEqual(origin.utf8) }) else { return }
      response.headers.append("Access-Control-Allow-Origin", origin)
    }
    response.headers.append("Access-Control-Expose-Headers", "X-Request-Id, Retry-After, WWW-Authenticate")
  }

  /// Adds what the answer to a preflight needs. The names of request headers vary with the SDK, so they are
  /// given back as they were asked for.
  func addPreflight(to response: inout Response, for request: Request) {
    response.headers.append("Access-Control-Allow-Methods", "GET, POST, PATCH, DELETE, OPTIONS")
    if let asked = request.headers.first("Access-Control-Request-Headers"), asked.utf8.count <= 1024 {
      response.headers.append("Access-Control-Allow-Headers", asked)
    }
    if request.headers.first("Access-Control-Request-Private-Network") == "true" {
      response.headers.append("Access-Control-Allow-Private-Network", "true")
    }
    response.headers.append("Access-Control-Max-Age", "600")
  }
}
