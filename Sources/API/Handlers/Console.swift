internal import HTTPServer

/// The page under `/console`, for administrators: it has no data in it, asks for their bearer itself, and gets everything
/// by the routes under `/v1/admin`.
enum Console {
  static let routes = [
    route("/console", .page(PackageResources.console_html, "text/html")),
    route("/console.js", .page(PackageResources.console_js, "text/javascript")),
    route("/console.css", .page(PackageResources.console_css, "text/css")),
  ]

  private static func route(_ path: String, _ answer: Response) -> Route {
    Route("GET", path, name: RouteName.console.rawValue, access: .administratorPage) { _ in answer }
  }
}
