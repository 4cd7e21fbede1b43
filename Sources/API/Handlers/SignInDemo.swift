internal import HTTPServer

/// The page under `/console/signin-demo`, in development: an app without a server of its own that signs a person in by
/// the web flow. Nothing in it is inline and nothing comes from elsewhere.
enum SignInDemo {
  static let path = "/console/signin-demo"

  /// The page, at the service's own address alone: cookies and return URLs know no other name of this machine.
  static func page(_ call: Call, publicURL: String) -> Response {
    let own = publicURL.split(separator: "/", maxSplits: 3).dropFirst().first
    guard let own, let host = call.request.headers.first("Host"),
      asciiLowercase(host).utf8.elementsEqual(asciiLowercase(own).utf8)
    else {
      return Response(status: 302, headers: ["Location": publicURL + path, "Cache-Control": "no-store"])
    }
    return page
  }

  private static var page: Response { .page(PackageResources.signin_demo_html, "text/html") }
  static var script: Response { .page(PackageResources.signin_demo_js, "text/javascript") }
  static var style: Response { .page(PackageResources.signin_demo_css, "text/css") }
}
