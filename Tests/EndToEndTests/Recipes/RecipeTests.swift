import Crypto
import Domain
import Foundation
import TestProcesses
import Testing
import Wire

/// The files of `deploy/verify`, driven as they are written.
@Suite(.timeLimit(.minutes(2)))
struct RecipeTests {
  /// Starts a service, what else is told, and a recipe in front of an application.
  private func with(
    _ recipe: Recipe, _ changes: [String: String] = [:], secondsAhead ahead: Int? = nil,
    before: (Stage) async throws -> Void = { _ in },
    _ body: (Stage, Service, Proxy) async throws -> Void
  ) async throws {
    try await withStage { stage in
      try await before(stage)
      let settings = changes.merging(["BRAMLEY_ISSUER": Recipe.issuer]) { $1 }
      let service = try await stage.start(settings, secondsAhead: ahead)
      let keys = try await stage.startTLS(settings, secondsAhead: ahead)
      let proxy = try await stage.start(recipe, asking: service, keys: keys, secondsAhead: ahead)
      try await body(stage, service, proxy)
    }
  }

  private func expectRefusal(_ answer: HTTPAnswer, at location: SourceLocation = #_sourceLocation) {
    #expect(answer.status == 401, "\(answer)", sourceLocation: location)
    #expect(answer["WWW-Authenticate"]?.hasPrefix("Bearer") == true, sourceLocation: location)
  }

  /// Every spelling that an application might take for a header of ours.
  private let spoofed: [(name: String, value: String)] = ["User", "Session", "Email"].flatMap { name in
    ["X-Auth-\(name)", "x-auth-\(name.lowercased())", "X_Auth_\(name)", "X-Auth_\(name)", "X_Auth-\(name)"]
      .map {
        ($0, "evil")
      }
  }

  @Test(arguments: Recipe.present, ["ES256", "RS256"])
  func `a good token passes, and the application learns who it is`(_ recipe: Recipe, _ algorithm: String)
    async throws
  {
    try await with(recipe, ["BRAMLEY_SESSION_ALG": algorithm]) { _, service, proxy in
      let session = try await service.signIn(Mint.credential { $0.email = "ada@example.com" })
      let seen = try await proxy.get(session.idToken, headers: spoofed)
      try #require(seen.status == 200, "\(seen)")
      let headers = try seen.json
      #expect(headers.text("x-auth-user") == session.localID)
      #expect(headers.text("x-auth-session") == session.sessionID)
      #expect(headers.text("x-auth-email") == "ada@example.com")
    }
  }

  @Test(arguments: Recipe.present)
  func `headers that the client made up never arrive`(_ recipe: Recipe) async throws {
    try await with(recipe) { _, service, proxy in
      let session = try await service.signIn(Mint.credential())
      let seen = try await proxy.get(session.idToken, headers: spoofed)
      try #require(seen.status == 200, "\(seen)")
      #expect(!String(decoding: seen.body, as: UTF8.self).contains("evil"))
      #expect(try seen.json["x-auth-email"] == nil)
      expectRefusal(try await proxy.get(nil, headers: spoofed))
      // The address is no verified one.
      let unverified = try Mint.credential { order in
        order.email = "ada@example.com"
        order.claims = [(name: "email_verified", value: .flag(false))]
      }
      let other = try await proxy.get(try await service.signIn(unverified).idToken, headers: spoofed)
      try #require(other.status == 200, "\(other)")
      #expect(try other.json["x-auth-email"] == nil)
    }
  }

  @Test(arguments: Recipe.present)
  func `forged tokens are refused`(_ recipe: Recipe) async throws {
    let foreign = Watched("")
    try await withService(["BRAMLEY_ISSUER": Recipe.issuer]) { service in
      let token = try await service.signIn(Mint.credential()).idToken
      foreign.update { $0 = token }
    }
    try await with(recipe) { stage, service, proxy in
      let token = try await service.signIn(Mint.credential()).idToken
      #expect(try await proxy.get(token).status == 200)
      let stranger = foreign.read { $0 }
      let certificates = try await service.get("/v1/certs").json
      let certificate = try #require(certificates.names.first.flatMap { certificates.text($0) })
      // To HAProxy's HS256 the very name of the file is the secret.
      let secrets = [certificate, stage.haproxyFolder + "/key-0.pem", stage.haproxyFolder + "/key-1.pem", ""]
      for bad in try forgeries(of: token, stranger: stranger, secrets: secrets) + ["x", "..", stranger] {
        expectRefusal(try await proxy.get(bad))
      }
      expectRefusal(try await proxy.get(nil))
      expectRefusal(try await proxy.get(nil, path: "/orders/7?access_token=\(token)"))
    }
  }

  private func forgeries(of token: String, stranger: String, secrets: [String]) throws -> [String] {
    let (good, other) = (try TokenParts(token), try TokenParts(stranger))
    let kid = try JSONObject(parsing: decodeBase64URL(good.header.utf8)).text("kid") ?? ""
    let none = base64URLText(Array(#"{"alg":"none","kid":"\#(kid)","typ":"JWT"}"#.utf8))
    let claims = String(decoding: try decodeBase64URL(good.payload.utf8), as: UTF8.self)
      .replacing(#""sub":""#, with: #""sub":"x"#)
    let hmac = #"{"alg":"HS256","kid":"\#(kid)","typ":"JWT"}"#
    return [
      "\(good.header).\(base64URLText(Array(claims.utf8))).\(good.signature)",
      "\(good.header).\(good.payload).\(other.signature)", "\(good.header).\(good.payload).",
      "\(good.header).\(other.payload).\(other.signature)", "\(none).\(good.payload).",
      "\(none).\(good.payload).\(good.signature)",
    ] + (secrets + [kid]).map { good.withMAC(keyedBy: Array($0.utf8), header: hmac) }
  }

  @Test(arguments: Recipe.present)
  func `a token for another audience or of another issuer is refused, though the key is right`(
    _ recipe: Recipe
  )
    async throws
  {
    try await with(recipe) { stage, service, proxy in
      let good = try await service.signIn(Mint.credential()).idToken
      let issuer = ["BRAMLEY_ISSUER": Recipe.issuer]
      for change in [["BRAMLEY_PROJECT_ID": "other"], ["BRAMLEY_ISSUER": "https://other.example.com"]] {
        let other = try await stage.start(issuer.merging(change) { $1 })
        let token = try await other.signIn(Mint.credential()).idToken
        #expect(try TokenParts(token).header == TokenParts(good).header)
        expectRefusal(try await proxy.get(token))
      }
      #expect(try await proxy.get(good).status == 200)
    }
  }

  @Test(arguments: Recipe.present)
  func `after a rotation tokens of the key before and of the next one pass, with nothing fetched between`(
    _ recipe: Recipe
  ) async throws {
    try await with(recipe) { stage, service, proxy in
      let before = try await service.signIn(Mint.credential()).idToken
      #expect(try await proxy.get(before).status == 200)
      #expect(try await stage.command("keys", "rotate", "--force").status == 0)
      var next = before
      try await service.waits("the next key signs") {
        next = try await service.signIn(Mint.credential()).idToken
        return try TokenParts(next).header != TokenParts(before).header
      }
      for token in [next, before] {
        let answer = try await proxy.get(token)
        #expect(answer.status == 200, "\(answer)")
      }
    }
  }

  /// Signs in now, and goes on that many seconds later.
  private func later(
    _ seconds: Int, _ recipe: Recipe, _ body: (String, Service, Proxy) async throws -> Void
  ) async throws {
    let old = Watched("")
    try await with(recipe, secondsAhead: seconds) { stage in
      let service = try await stage.start(["BRAMLEY_ISSUER": Recipe.issuer])
      let token = try await service.signIn(Mint.credential()).idToken
      old.update { $0 = token }
      try await service.stop()
    } _: { _, service, proxy in
      try await body(old.read { $0 }, service, proxy)
    }
  }

  @Test(arguments: Recipe.present)
  func `a token passes as long as it lives`(_ recipe: Recipe) async throws {
    try await later(3500, recipe) { token, _, proxy in
      let answer = try await proxy.get(token)
      #expect(answer.status == 200, "\(answer)")
    }
  }

  @Test(arguments: Recipe.present)
  func `an expired token is refused`(_ recipe: Recipe) async throws {
    try await later(4000, recipe) { token, service, proxy in
      let fresh = try await service.signIn(Mint.credential { $0.issuedAt = now() + 4000 })
      let answer = try await proxy.get(fresh.idToken)
      #expect(answer.status == 200, "\(answer)")
      expectRefusal(try await proxy.get(token))
    }
  }

  /// Apache's module does not look at `iat`.
  @Test(arguments: Recipe.present.filter { $0 != .apache })
  func `a token from the future is refused`(_ recipe: Recipe) async throws {
    try await with(recipe) { stage, service, proxy in
      let ahead = try await stage.start(["BRAMLEY_ISSUER": Recipe.issuer], secondsAhead: 1200)
      let early = try await ahead.signIn(Mint.credential { $0.issuedAt = now() + 1200 })
      expectRefusal(try await proxy.get(early.idToken))
    }
  }

  @Test(arguments: Recipe.present)
  func `a session that was ended is refused at once online, and offline at its token's end`(_ recipe: Recipe)
    async throws
  {
    try await with(recipe) { _, service, proxy in
      let session = try await service.signIn(Mint.credential())
      #expect(try await proxy.get(session.idToken).status == 200)
      let out = try await service.send(
        .post("/v1/signOut", json: #"{"refreshToken":"\#(session.refreshToken)"}"#))
      #expect(out.status == 200, "\(out)")
      let answer = try await proxy.get(session.idToken)
      if recipe.isOnline { expectRefusal(answer) } else { #expect(answer.status == 200, "\(answer)") }
    }
  }

  @Test(arguments: Recipe.present.filter(\.isOnline))
  func `an outage is 503 online, and the place where the proxy asks is not to be had from outside`(
    _ recipe: Recipe
  ) async throws {
    try await with(recipe) { _, service, proxy in
      let token = try await service.signIn(Mint.credential()).idToken
      #expect(try await proxy.get(token, path: "/.bramley-verify").status == 404)
      try await service.kill()
      let answer = try await proxy.get(token)
      #expect(answer.status == 503, "\(answer)")
      #expect(answer["Retry-After"] == "5")
    }
  }

  @Test(arguments: Recipe.present.filter { !$0.isOnline })
  func `an outage does not matter offline`(_ recipe: Recipe) async throws {
    try await with(recipe) { _, service, proxy in
      let token = try await service.signIn(Mint.credential()).idToken
      #expect(try await proxy.get(token).status == 200)
      try await service.kill()
      proxy.keys.process.send(signal: SIGKILL)
      try await proxy.keys.process.ended()
      #expect(try await proxy.get(token).status == 200)
    }
  }
}

/// The script that fetches keys for HAProxy.
@Suite(.timeLimit(.minutes(2)), .enabled(if: Recipe.present.contains(.haproxy)))
struct HAProxyCertificateTests {
  @Test func `keys are written and HAProxy is reloaded once, and again only after a change`() async throws {
    try await withStage { stage in
      let service = try await stage.start()
      let reload = ["/bin/echo", "reloaded"]
      #expect(try await stage.fetchCertificates(from: service.baseURL, reload: reload).output == "reloaded\n")
      #expect(try await stage.fetchCertificates(from: service.baseURL, reload: reload).output == "")
      let names = try await service.get("/v1/certs").json.names
      let places = try String(contentsOfFile: stage.haproxyFolder + "/places.map", encoding: .utf8)
      #expect(places.split(separator: "\n").map { String($0.prefix { $0 != " " }) } == names.sorted())
    }
  }

  @Test func `nothing is changed when the answer is odd or there is none`() async throws {
    try await withStage { stage in
      let service = try await stage.start()
      _ = try await stage.fetchCertificates(from: service.baseURL)
      let before = try String(contentsOfFile: stage.haproxyFolder + "/algorithms.map", encoding: .utf8)
      for url in [service.baseURL + "/nowhere", "http://127.0.0.1:1"] {
        let finished = try await stage.fetchCertificates(from: url, reload: ["/bin/echo", "reloaded"])
        #expect(finished.status == 1)
        #expect(finished.output == "")
      }
      #expect(try String(contentsOfFile: stage.haproxyFolder + "/algorithms.map", encoding: .utf8) == before)
    }
  }
}
