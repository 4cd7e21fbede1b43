internal import HTTPServer

/// Every route by the places where it is found: behind a Google service's name in the path, under that name in the
/// `Host` header, or without either.
struct RouteTable: Sendable {
  private let behindPrefix: [GoogleHost: PathIndex]
  private let underHost: [GoogleHost: PathIndex]
  private let bare: PathIndex

  init(_ routes: [Route]) {
    let own = routes.filter { $0.host == nil }
    let hosted = GoogleHost.allCases.map { host in (host, routes.filter { $0.host == host }) }
    behindPrefix = Dictionary(uniqueKeysWithValues: hosted.map { ($0, PathIndex($1)) })
    // Our own stay there whatever the header says: a health check need not know whose name a client used.
    underHost = Dictionary(uniqueKeysWithValues: hosted.map { ($0, PathIndex($1 + own)) })
    bare = PathIndex(own + hosted.flatMap(\.1))
  }

  /// The routes of the path that a request names; nil when there are none. A name in the path says more than the
  /// header, which a proxy may have written.
  func match(_ request: Request) -> PathMatch? {
    if let (host, path) = GoogleHost.prefix(of: request.path) { return behindPrefix[host]?.match(path) }
    let host = request.headers.first("Host").flatMap { GoogleHost(hostField: $0) }
    let index = host.flatMap { underHost[$0] } ?? bare
    return index.match(request.path)
  }
}

/// The routes of one path by method, and what the path said for the names of its template.
struct PathMatch: Sendable {
  private(set) var methods: [String: Route]
  let parameters: [String: String]

  /// What answers a method. GET answers HEAD too: the listener leaves the body out.
  func route(for method: String) throws(Failure) -> Route {
    if let route = methods[method] ?? (method == "HEAD" ? methods["GET"] : nil) ?? methods["*"] {
      return route
    }
    throw Failure(.methodNotAllowed)
  }

  /// Whether operators alone come here.
  var isOfOperators: Bool {
    methods.values.allSatisfy { $0.access == .administrator || $0.access == .administratorPage }
  }

  /// What is left of it; nil when nothing is.
  func limited(to isThere: (Route) -> Bool) -> PathMatch? {
    guard methods.contains(where: { !isThere($0.value) }) else { return self }
    var match = self
    match.methods = methods.filter { isThere($0.value) }
    return match.methods.isEmpty ? nil : match
  }
}

/// Routes by path: those without names in a dictionary, the others by the number of their segments.
private struct PathIndex: Sendable {
  private struct Templated: Sendable {
    let path: String
    let template: PathTemplate
    let methods: [String: Route]
  }

  private var exact: [String: [String: Route]] = [:]
  private var templated: [Int: [Templated]] = [:]
  /// By the path before `/*`, which stands for itself and everything below it.
  private var subtrees: [String: [String: Route]] = [:]

  /// Of two routes with one path and method the first is taken.
  init(_ routes: [Route]) {
    for (path, routes) in Dictionary(grouping: routes, by: \.path) {
      let methods = Dictionary(routes.map { ($0.method, $0) }, uniquingKeysWith: { first, _ in first })
      let template = PathTemplate(path)
      if path.hasSuffix("/*") {
        subtrees[String(path.dropLast(2))] = methods
      } else if template.isExact {
        exact[path] = methods
      } else {
        templated[template.segmentCount, default: []].append(
          Templated(path: path, template: template, methods: methods))
      }
    }
    templated = templated.mapValues { group in
      // By the path too, so that it is the same in every process.
      group.sorted { ($0.template.literalCount, $0.path) > ($1.template.literalCount, $1.path) }
    }
  }

  func match(_ path: String) -> PathMatch? {
    if let methods = exact[path] { return PathMatch(methods: methods, parameters: [:]) }
    for candidate in templated[PathTemplate.segmentCount(of: path)] ?? [] {
      if let parameters = candidate.template.match(path) {
        return PathMatch(methods: candidate.methods, parameters: parameters)
      }
    }
    let subtree = subtrees.first { root, _ in
      path.utf8.starts(with: root.utf8)
        && [nil, UInt8(ascii: "/")].contains(path.utf8.dropFirst(root.utf8.count).first)
    }
    return subtree.map { PathMatch(methods: $0.value, parameters: [:]) }
  }
}
