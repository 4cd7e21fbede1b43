internal import HTTPServer

/// What stands in a request's `Authorization`.
enum Authorization: Equatable {
  case absent
  case bearer(String)
  /// Another scheme, or two fields.
  case other
}

extension Request {
  /// RFC 6750 §2.1; the scheme in any case (RFC 9110 §11.1).
  var authorization: Authorization {
    guard let value = headers.first("Authorization") else { return .absent }
    let scheme = "bearer "
    guard headers.count(of: "Authorization") == 1,
      asciiLowercase(value.prefix(scheme.count)).utf8.elementsEqual(scheme.utf8)
    else { return .other }
    return .bearer(String(value.dropFirst(scheme.count)))
  }
}

extension RequestPolicy {
  /// Whether anybody can be an administrator.
  private var hasAdministrators: Bool { isDevMode || !adminTokens.isEmpty }

  /// Whether there can be somebody who is let in.
  func admitsAnybody(_ access: Access) -> Bool {
    switch access {
    case .open, .app: true
    case .service: hasAdministrators || !serviceKeys.isEmpty
    case .administrator, .administratorPage: hasAdministrators
    }
  }

  /// Lets a request in to a route, or refuses it.
  ///
  /// - Returns: The administrator who sent it, where the route has to do with them.
  func admit(_ request: Request, to route: Route) throws(Failure) -> String? {
    switch route.access {
    case .open, .administratorPage: return nil
    case .app:
      // A bearer that is nobody's among them is somebody's session, perhaps: the handler's to judge.
      if route.face == .firebase, let administrator = administrator(of: request) { return administrator }
      // A back end has no app to name.
      if !serviceKeys.admits(request) { try apiKeys.check(request) }
      return nil
    case .service:
      if let administrator = administrator(of: request) { return administrator }
      guard serviceKeys.admits(request) else { throw Failure(.serviceKeyInvalid) }
      return nil
    case .administrator:
      guard request.authorization != .absent else { throw Failure(.adminTokenMissing) }
      guard let administrator = administrator(of: request) else { throw Failure(.adminTokenInvalid) }
      return administrator
    }
  }

  private func administrator(of request: Request) -> String? {
    guard case .bearer(let token) = request.authorization else { return nil }
    if let holder = adminTokens.holder(of: token) { return holder }
    let isOwner = isDevMode && token.utf8.elementsEqual(ownerToken.utf8) && isFromThisMachine(request)
    return isOwner ? ownerToken : nil
  }
}

/// What every Admin SDK sends to an emulator; whoever may send it in development mode has this name as well.
private let ownerToken = "owner"

/// Whether nothing in the head says that a proxy or a page of another site has to do with a request. Everybody knows
/// the owner's token, so it is good for nobody but whoever sits at this machine: not through a proxy that serves
/// others, not for a page whose name was made to resolve to 127.0.0.1.
private func isFromThisMachine(_ request: Request) -> Bool {
  let isForwarded = request.headers.fields.contains { field in
    let name = asciiLowercase(field.name)
    return name == "forwarded" || name == "via" || name.hasPrefix("x-forwarded-")
  }
  let hosts = request.headers.all("Host").map { Authority($0) }
  let origins = request.headers.all("Origin").map { Authority(origin: $0) }
  return !isForwarded && !hosts.isEmpty && (hosts + origins).allSatisfy { $0?.isLoopback == true }
}
