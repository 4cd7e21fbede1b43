internal import HTTPServer

/// Which pages may call from a browser (the Fetch standard, "CORS protocol"). The one cookie there
/// is names a browser at Apple's page and lets nobody in, and credentials are never allowed here: letting every origin in
/// gives a page nothing that it could not do without a browser.
///
/// Operators' routes are the exception: where they are, an operator's browser comes and a stranger often does not, so that
/// the page of any site could try tokens there. Only origins that were named may call them.
struct CrossOriginPolicy: Sendable {
  private let allowed: [String]
  private let allowsAll: Bool
  private let allowsAllToOperators: Bool

  /// - Parameter isDevMode: Whether operators' routes are for every page too, on a machine that serves nobody else.
  init(allowed: [String], isDevMode: Bool) {
    self.allowed = allowed
    allowsAll = allowed == ["*"]
    allowsAllToOperators = allowsAll && isDevMode
  }

  /// Whether the page that a request comes from may call.
  func allows(_ request: Request, ofOperators isOfOperators: Bool) -> Bool {
    guard let origin = request.headers.first("Origin") else { return false }
    return allowsEverybody(isOfOperators) || isNamed(origin)
  }

  private func allowsEverybody(_ isOfOperators: Bool) -> Bool {
    isOfOperators ? allowsAllToOperators : allowsAll
  }

  private func isNamed(_ origin: String) -> Bool {
    allowed.contains { $0.utf8.elementsEqual(origin.utf8) }
  }

  /// Adds what every answer to a page needs, also an error: without it a page sees only "network failed".
  ///
  /// - Parameter isOfOperators: Asked for pages only: most callers are none.
  func add(
    to response: inout Response, for request: Request, ofOperators isOfOperators: @autoclosure () -> Bool
  ) {
    guard let origin = request.headers.first("Origin") else { return }
    if allowsEverybody(isOfOperators()) {
      response.headers.append("Access-Control-Allow-Origin", "*")
    } else {
      response.headers.append("Vary", "Origin")
      guard isNamed(origin) else { return }
      response.headers.append("Access-Control-Allow-Origin", origin)
    }
    response.headers.append("Access-Control-Expose-Headers", "X-Request-Id, Retry-After, WWW-Authenticate")
  }

  /// Adds what the answer to a preflight needs, beside what every answer has. The names of request headers vary with the SDK, so they are
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
