import Foundation
import TestProcesses
import Testing
import Wire

/// Back ends of a few lines in several languages, each with its language's own library: `Tests/BackEnds`.
@Suite(.timeLimit(.minutes(10)))
struct BackEndTests {
  @Test(arguments: SampleBackEnd.Language.allCases)
  func `a back end of a few lines lets in who is signed in and nobody else`(
    _ language: SampleBackEnd.Language
  )
    async throws
  {
    let foreign = Watched("")
    try await withService { service in
      let token = try await service.signIn(Mint.credential()).idToken
      foreign.update { $0 = token }
    }
    try await withService { service in
      let sample = try await SampleBackEnd(language)
      let backEnd = try await sample.start(issuer: service.baseURL)
      let session = try await service.signIn(Mint.credential())
      let good = try await backEnd.answer(bearer: session.idToken)
      #expect(good.status == 200)
      #expect(try good.json.text("account") == session.localID)
      #expect(try await backEnd.answer(authorization: "bearer \(session.idToken)").status == 200)
      var refused = try changed(session.idToken)
      refused += [foreign.read { $0 }, session.refreshToken, unsigned(session.idToken), "x", "..", "", "€"]
      for token in refused {
        let answer = try await backEnd.answer(bearer: token)
        #expect(answer.status == 401, "\(token)")
        #expect(answer["WWW-Authenticate"] == "Bearer")
      }
      for header in [nil, "", "Basic \(session.idToken)", session.idToken] {
        #expect(try await backEnd.answer(authorization: header).status == 401, "\(header ?? "none")")
      }
      let other = try await sample.start(issuer: service.baseURL, audience: "another")
      #expect(try await other.answer(bearer: session.idToken).status == 401)
      // Keys that were fetched once are enough, and keys that cannot be fetched say nothing about a token.
      try await service.kill()
      let newcomer = try await sample.start(issuer: service.baseURL)
      #expect(try await backEnd.answer(bearer: session.idToken).status == 200)
      #expect(try await newcomer.answer(bearer: session.idToken).status == 503)
    }
  }

  /// What may stand where the keys should, and says nothing about a token.
  private static let pages = [
    "200 OK": ["<html>Welcome", "", "[]", #"{"keys":7}"#], "404 Not Found": ["{}"],
    "503 Unavailable": [#"{"keys":[{}]}"#],
  ]

  @Test(arguments: SampleBackEnd.Language.allCases)
  func `a page in place of the keys signs nobody out of a back end`(_ language: SampleBackEnd.Language)
    async throws
  {
    let page = Watched("")
    let listener = try LoopbackListener { connection in
      var received = Deliveries(connection)
      while received.next() != nil { received.send(Array(page.read { $0 }.utf8)) }
    }
    let issuer = "http://127.0.0.1:\(listener.port)"
    let token = Watched("")
    try await withService(["BRAMLEY_ISSUER": issuer]) { service in
      let session = try await service.signIn(Mint.credential()).idToken
      token.update { $0 = session }
    }
    let sample = try await SampleBackEnd(language)
    for (status, bodies) in Self.pages {
      for body in bodies {
        page.update {
          $0 =
            "HTTP/1.1 \(status)\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
        }
        let backEnd = try await sample.start(issuer: issuer)
        for _ in 0..<2 {
          let answer = try await backEnd.answer(bearer: token.read { $0 })
          #expect(answer.status == 503, "\(status) \(body)")
        }
      }
    }
  }

  /// The token with one bit changed in the middle of each part.
  private func changed(_ token: String) throws -> [String] {
    let parts = token.split(separator: ".").map(String.init)
    return try parts.indices.map { index in
      var bytes = try decodeBase64URL(parts[index].utf8)
      bytes[bytes.count / 2] ^= 1
      var changed = parts
      changed[index] = base64URLText(bytes)
      return changed.joined(separator: ".")
    }
  }

  /// The token's claims without a signature (RFC 7518 §3.6).
  private func unsigned(_ token: String) -> String {
    base64URLText(Array(#"{"alg":"none","typ":"JWT"}"#.utf8)) + "." + token.split(separator: ".")[1] + "."
  }
}

/// A back end of `Tests/BackEnds`, ready to be started.
final class SampleBackEnd: Sendable {
  enum Language: String, CaseIterable, Sendable {
    case swift, python, go, node
  }

  private static let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("BackEnds")

  private let folder: URL
  private let command: [String]

  /// Brings the language's library to where a package manager would have put it: Debian's package of it.
  init(_ language: Language) async throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("back-end-" + UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    switch language {
    case .swift: command = [Program.backEnd]
    case .python:
      command = [
        try #require(Program.clientsPython), Self.sources.appendingPathComponent("back_end.py").path,
      ]
    case .node:
      try FileManager.default.copyItem(
        at: Self.sources.appendingPathComponent("back_end.mjs"),
        to: folder.appendingPathComponent("back_end.mjs"))
      try link("node_modules/jose", in: folder, to: "/usr/share/nodejs/jose")
      command = ["/usr/bin/node", "back_end.mjs"]
    case .go:
      // Debian has the library's second version, which has the same face under an older name.
      try link(
        "path/src/github.com/coreos/go-oidc/v3/oidc", in: folder,
        to: "/usr/share/gocode/src/github.com/coreos/go-oidc")
      let built = try await run(
        "/usr/bin/go", ["build", "-o", "back-end", Self.sources.appendingPathComponent("back_end.go").path],
        environment: [
          "GO111MODULE": "off", "GOPATH": folder.path + "/path:/usr/share/gocode",
          "GOCACHE": folder.path + "/cache",
        ], folder: folder.path)
      #expect(built.status == 0, "\(built.errors)")
      command = [folder.appendingPathComponent("back-end").path]
    }
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  func start(issuer: String, audience: String = "bramley") async throws -> RunningBackEnd {
    let child = try ChildProcess(
      command[0], Array(command.dropFirst()),
      environment: Program.environment.merging(
        ["ISSUER": issuer, "AUDIENCE": audience, "PORT": "0"]) { $1 }, folder: folder.path)
    do {
      let line = try await child.line { $0.hasPrefix("listening on ") }
      return RunningBackEnd(child: child, port: try port(of: line))
    } catch let fault as EndedWithoutLine {
      throw NotReady(end: fault.end, errors: child.errorText)
    }
  }
}

private func link(_ path: String, in folder: URL, to target: String) throws {
  let place = folder.appendingPathComponent(path)
  try FileManager.default.createDirectory(
    at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
  try FileManager.default.createSymbolicLink(at: place, withDestinationURL: URL(fileURLWithPath: target))
}

/// A back end that listens; it ends with its value.
final class RunningBackEnd: Sendable {
  private let child: ChildProcess
  private let port: UInt16

  fileprivate init(child: ChildProcess, port: UInt16) { (self.child, self.port) = (child, port) }

  deinit { child.send(signal: SIGKILL) }

  func answer(bearer token: String) async throws -> HTTPAnswer {
    try await answer(authorization: "Bearer \(token)")
  }

  func answer(authorization: String?) async throws -> HTTPAnswer {
    var request = HTTPRequest(path: "/orders")
    if let authorization { request.headers.append(("Authorization", authorization)) }
    return try await exchange(request, port: port)
  }
}
