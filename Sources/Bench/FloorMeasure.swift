internal import Glibc
package import Load
package import LoadReport

/// What a request of a workload cannot do without.
package enum FloorKind: Sendable {
  case signIn, refresh, verify, verifyFresh, introspect, keySet
}

/// How large a workload's requests and answers are: an empty request of the same size is what they are compared with.
package struct RequestShape: Sendable, Equatable {
  /// Bytes of a request, and of an answer's body.
  package let request: Int
  package let body: Int
  package let hasBody: Bool

  package init(request: Int, body: Int, hasBody: Bool) {
    self.request = request
    self.body = body
    self.hasBody = hasBody
  }
}

/// Measures the floor of a workload, in the same way as the workload was measured: the same loop, connections and
/// rate; the signatures on all cores at once, since the service shares them too.
///
/// - Parameters:
///   - plan: How the workload was offered; only its warm-up and duration may be shorter here.
///   - keySet: The body that nginx answers with.
/// - Returns: Nil where a part of it is not to be had on this machine.
package func measureFloor(
  _ kind: FloorKind, _ shape: RequestShape, _ plan: LoadPlan, keySet: [UInt8], threads: Int, stop: StopFlag
) throws(LoadError) -> Floor? {
  var parts: [Floor.Part] = []
  func crypto(_ operation: CryptoOperation) throws(LoadError) {
    let figure = try measure(operation, threads: availableCores(), seconds: 0.4, stop: stop)
    parts.append(Floor.Part(name: operation.rawValue, microseconds: figure.microseconds ?? 0))
  }
  func empty(_ isSuspended: Bool) throws(LoadError) {
    let cost = try measureEmpty(isSuspended, shape, plan, threads: threads, stop: stop)
    let name = isSuspended ? "empty suspended request" : "empty inline request"
    parts.append(Floor.Part(name: name, microseconds: cost.report.server?.microsecondsPerRequest ?? 0))
  }
  switch kind {
  case .signIn:
    try crypto(.rsaVerify)
    try crypto(.ecdsaSign)
    try empty(true)
  case .refresh:
    try crypto(.ecdsaSign)
    try empty(true)
  case .verify, .introspect: try empty(false)
  case .verifyFresh:
    try crypto(.ecdsaVerify)
    try empty(false)
  case .keySet:
    guard let run = try measureNginx(keySet, plan, stop: stop) else { return nil }
    parts.append(
      Floor.Part(name: "nginx, return 200", microseconds: run.report.server?.microsecondsPerRequest ?? 0))
  }
  return Floor(parts: parts)
}

/// Offers empty requests to a listener in a process of its own.
package func measureEmpty(
  _ isSuspended: Bool, _ shape: RequestShape, _ plan: LoadPlan, threads: Int, stop: StopFlag
) throws(LoadError) -> LoadOutcome {
  guard let folder = makeFolder(in: temporaryFolder) else {
    throw .unavailable("cannot make a folder in \(temporaryFolder)")
  }
  defer { removeFolder(folder) }
  let child = try ChildProgram(
    "/proc/\(getpid())/exe", ["listener", "--threads", "\(threads)"], environment: ["PATH=/usr/bin:/bin"],
    folder: folder, log: folder + "/listener.log")
  defer { child.stop() }
  let endpoint = try Endpoint(url: "http://" + child.address, allowsRemote: false)
  return try runLoad(
    .filler(
      path: (isSuspended ? "/suspended/" : "/inline/") + "\(shape.body)", bytes: shape.request,
      hasBody: shape.hasBody),
    plan, name: "", against: endpoint, server: child.process, stop: stop)
}

/// Offers the key set's request to nginx; nil when there is none on this machine.
package func measureNginx(_ keySet: [UInt8], _ plan: LoadPlan, stop: StopFlag) throws(LoadError)
  -> LoadOutcome?
{
  guard let nginx = Nginx(body: keySet) else { return nil }
  let endpoint = try Endpoint(url: "http://" + nginx.address, allowsRemote: false)
  return try runLoad(
    .get(path: "/.well-known/jwks.json"), plan, name: "", against: endpoint, server: nginx.process, stop: stop
  )
}
