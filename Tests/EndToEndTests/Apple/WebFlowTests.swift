import Foundation
import TestProcesses
import Testing
import Wire

/// The web flow against the stand-in, hop by hop.
@Suite struct WebFlowTests {
  private func withFlow(
    _ settings: [String: String] = [:], _ body: (Service, MockAppleProgram, Stage) async throws -> Void
  ) async throws {
    let apple = try await MockAppleProgram.start()
    try await withStage(appleURL: apple.baseURL) { stage in
      let all = WebApp.settings.merging(Team.settings) { $1 }.merging(settings) { $1 }
      try await body(try await stage.start(all), apple, stage)
    }
    try await apple.kill()
  }

  /// A one-time code.
  private func code(
    _ app: WebApp, _ browser: inout WebBrowser, _ apple: MockAppleProgram, subject: String = Mint.subject()
  ) async throws -> String {
    let fields = try await browser.begin(app)
    let posted = try await browser.agree(fields, to: apple, subject: subject)
    let back = try await browser.come(back: posted).returned(to: WebApp.returnURL)
    return try #require(back["code"], "\(back)")
  }

  @Test(arguments: [Client.app, Client.web, Client.challenge, Client.webChallenge])
  func `a person signs in, with the name, and the code goes to Apple`(_ client: String) async throws {
    try await withFlow { service, apple, _ in
      let app = WebApp()
      var browser = WebBrowser(service)
      let fields = try await browser.begin(app, ["client_id": client, "redirect_uri": WebApp.otherURL])
      #expect(fields["response_mode"] == "form_post")
      #expect(fields["response_type"] == "code id_token")
      #expect(fields["redirect_uri"] == service.baseURL + "/v1/apple/callback")
      let subject = Mint.subject()
      let posted = try await browser.agree(fields, to: apple, subject: subject)
      let back = try await browser.come(back: posted).returned(to: WebApp.otherURL)
      #expect(back["state"] == "what the app wants back")
      let traded = try await app.trade(try #require(back["code"]), at: service)
      try #require(traded.status == 200, "\(traded)")
      let tokens = try traded.json
      let bearer = [("Authorization", "Bearer " + (tokens.text("id_token") ?? ""))]
      let account = try await service.get("/v1/account", headers: bearer.map { (name: $0.0, value: $0.1) })
        .json
      #expect(account.text("displayName") == "Ada Lovelace")
      #expect(account.text("localId") == tokens.text("user_id"))
      _ = try await service.refresh(try #require(tokens.text("refresh_token")))
      try await apple.waits("the exchange") { $0.count("exchange") == 1 }
    }
  }

  @Test func `a code is good for one session, also for twenty at once`() async throws {
    try await withFlow { service, apple, stage in
      let app = WebApp()
      var browser = WebBrowser(service)
      let code = try await code(app, &browser, apple)
      let answers = try await inParallel(20, port: service.port) { _ in app.trading(code) }
      let good = answers.filter { $0.status == 200 }
      #expect(good.count == 1)
      for answer in answers where answer.status != 200 {
        try expect(answer, is: Refusal(400, "INVALID_CODE", "code_already_used"))
      }
      let sessions = try await stage.sql("SELECT count(*) FROM sessions")
      #expect(sessions == "1")
    }
  }

  @Test func `a code without the app's own verifier gets nothing, and burns nothing`() async throws {
    try await withFlow { service, apple, _ in
      let app = WebApp()
      var browser = WebBrowser(service)
      let code = try await code(app, &browser, apple)
      for verifier in ["short", String(repeating: "v", count: 129), app.verifier + "é"] {
        let answer = try await app.trade(code, verifier: verifier, at: service)
        try expect(answer, is: .argument("field_invalid"), field: "code_verifier")
      }
      for (name, value) in [("client_id", Client.app), ("redirect_uri", WebApp.otherURL)] {
        let answer = try await service.send(app.trading(code, [(name, value)]))
        try expect(answer, is: Refusal(400, "INVALID_CODE", "code_invalid"))
      }
      for verifier in ["", app.challenge, app.verifier + "x", "x" + app.verifier.dropFirst()] {
        let answer = try await app.trade(code, verifier: verifier, at: service)
        if verifier.isEmpty {
          try expect(answer, is: .argument("field_missing"), field: "code_verifier")
        } else {
          try expect(answer, is: Refusal(400, "INVALID_CODE", "code_verifier_mismatch"))
        }
      }
      let answer = try await app.trade(code, at: service)
      #expect(answer.status == 200)
    }
  }

  @Test func `a code lives a minute, a state a quarter of an hour, on any node`() async throws {
    try await withFlow { service, apple, stage in
      let app = WebApp()
      var browser = WebBrowser(service)
      let code = try await code(app, &browser, apple)
      let fields = try await browser.begin(app)
      let posted = try await browser.agree(fields, to: apple, subject: Mint.subject())
      let settings = WebApp.settings.merging(Team.settings) { $1 }
      // W02: three minutes are no hurry, whatever browsers do with cookies that are two minutes old.
      let soon = try await stage.start(settings, secondsAhead: 180)
      let late = try await app.trade(code, at: soon)
      try expect(late, is: Refusal(400, "INVALID_CODE", "code_expired"))
      var other = WebBrowser(soon)
      _ = try await other.begin(app)
      let back = try await other.come(back: posted, cookie: browser.cookie)
      let fresh = try #require(try back.returned(to: WebApp.returnURL)["code"])
      let traded = try await app.trade(fresh, at: soon)
      #expect(traded.status == 200, "\(traded)")
      let tomorrow = try await stage.start(settings, secondsAhead: 1000)
      let answer = try await WebBrowser(tomorrow).come(back: posted, cookie: browser.cookie)
      let told = try answer.returned(to: WebApp.returnURL)
      #expect(told["error"] == "state_expired" && told["code"] == nil)
      #expect(told["state"] == "what the app wants back")
    }
  }

  @Test func `W01 the cookie is one that comes along from Apple's site`() async throws {
    try await withFlow(["BRAMLEY_PUBLIC_URL": "https://auth.example.com"]) { service, _, _ in
      let answer = try await service.get(WebApp().path())
      let cookie = try #require(answer.header("Set-Cookie"))
      #expect(cookie.hasPrefix("__Host-bramley-web="))
      for attribute in ["Secure", "SameSite=None", "HttpOnly", "Path=/", "Max-Age=900"] {
        #expect(cookie.components(separatedBy: "; ").contains(attribute), "\(cookie)")
      }
    }
  }

  @Test func `W04 a cookie that another host has planted is neither taken nor in the way`() async throws {
    try await withFlow(["BRAMLEY_PUBLIC_URL": "https://auth.example.com"]) { service, apple, _ in
      var browser = WebBrowser(service)
      var attacker = WebBrowser(service)
      _ = try await attacker.begin(WebApp())
      let plain = (attacker.cookie ?? "").replacingOccurrences(of: "__Host-bramley-web", with: "bramley-web")
      let fields = try await browser.begin(WebApp())
      let own = try #require(browser.cookie)
      let posted = try await browser.agree(fields, to: apple, subject: Mint.subject())
      let planted = try await attacker.come(back: posted, cookie: plain)
      #expect(try planted.returned(to: WebApp.returnURL)["error"] == "state_of_another_browser")
      for cookie in ["bramley-web=junk; \(own)", "__Host-bramley-web=junk; \(own)", "\(plain);\(own)"] {
        let back = try await browser.come(back: posted, cookie: cookie).returned(to: WebApp.returnURL)
        #expect(back["code"] != nil)
      }
    }
  }

  @Test func `W04 a forged callback, and one from another browser, are refused`() async throws {
    try await withFlow { service, apple, stage in
      let app = WebApp()
      var browser = WebBrowser(service)
      let fields = try await browser.begin(app)
      let posted = try await browser.agree(fields, to: apple, subject: Mint.subject())
      let stateless = posted.filter { $0.0 != "state" }
      try expect(try await browser.come(back: stateless), is: .token("state_invalid"))
      let state = try #require(fields["state"])
      for forged in ["x", "bwa1.", state + "A", String(state.dropLast()), "bwg1" + state.dropFirst(4)] {
        let answer = try await browser.come(back: stateless + [("state", forged)])
        try expect(answer, is: .token("state_invalid"))
      }
      var thief = WebBrowser(service)
      _ = try await thief.begin(app)
      let cookies: [String?] = [Optional<String>.none, "bramley-web=", thief.cookie, "other=1"]
      for cookie in cookies {
        let answer = try await browser.come(back: posted, cookie: Optional<String?>.some(cookie))
        let told = try answer.returned(to: WebApp.returnURL)
        #expect(told["error"] == "state_of_another_browser" && told["code"] == nil)
      }
      // Another's token in one's own attempt: the nonce is not the attempt's.
      let own = try await thief.begin(app)
      let mixed =
        posted.filter { $0.0 != "state" } + [("state", try #require(own["state"]))]
      let back = try await thief.come(back: mixed).returned(to: WebApp.returnURL)
      #expect(back["error"] == "nonce_mismatch")
      #expect(back["code"] == nil)
      let sessions = try await stage.sql("SELECT count(*) FROM sessions")
      #expect(sessions == "0")
      // None of that is in the way of the person.
      let good = try await browser.come(back: posted).returned(to: WebApp.returnURL)
      #expect(good["code"] != nil)
    }
  }

  @Test func `W05 a person who closes Apple's page comes back with that word`() async throws {
    try await withFlow { service, apple, _ in
      var browser = WebBrowser(service)
      let fields = try await browser.begin(WebApp())
      let posted = try await browser.agree(fields, to: apple, subject: Mint.subject(), button: "cancel")
      let back = try await browser.come(back: posted).returned(to: WebApp.returnURL)
      #expect(back["error"] == "user_cancelled_authorize")
      #expect(back["state"] == "what the app wants back")
    }
  }

  @Test(arguments: [
    "https://evil.example.com/", "com.example.app:/signed-in/", "com.example.app:/signed-in?x=1",
    "COM.example.app:/signed-in", "com.example.app:/signed-in#", "javascript:alert(1)", "//evil.example.com",
  ])
  func `a return URL that is not on the list is refused before anything else`(_ url: String) async throws {
    try await withFlow { service, _, _ in
      let answer = try await service.get(WebApp().path(["redirect_uri": url]))
      try expect(answer, is: Refusal(400, "INVALID_CONTINUE_URI", "return_url_not_allowed"))
      #expect(answer.header("Location") == nil)
    }
  }

  @Test func `what begins a sign-in is looked at, and the app hears what is wrong with it`() async throws {
    try await withFlow { service, _, _ in
      let app = WebApp()
      func answer(_ fields: [String: String?]) async throws -> HTTPAnswer {
        try await service.get(app.path(fields))
      }
      let long = String(repeating: "s", count: 513)
      let wrong: [(fields: [String: String?], reason: String)] = [
        (["code_challenge": Optional<String>.none], "code_challenge_missing"),
        (["code_challenge": "short"], "code_challenge_missing"),
        (["code_challenge_method": "plain"], "code_challenge_missing"),
        (["client_id": Optional<String>.none], "field_missing"),
        (["client_id": "com.example.nobody"], "audience_not_allowed"),
        (["response_type": "token"], "field_invalid"), (["state": long], "field_too_long"),
      ]
      for (fields, reason) in wrong {
        let target = try #require(try await answer(fields).header("Location"))
        try #require(target.hasPrefix(WebApp.returnURL + "?"), "\(target)")
        let told = try FormBody(parsing: target.dropFirst(WebApp.returnURL.count + 1).utf8)
        #expect(told["error"] == reason)
        #expect(told["error_description"]?.isEmpty == false)
        #expect(told["state"] == (fields["state"] == nil ? "what the app wants back" : nil))
      }
      let library = try await answer([
        "prompt": "none", "nonce": "of-a-library", "scope": "openid", "ui_locales": "",
      ])
      #expect(library.status == 302)
      try expect(
        try await answer(["redirect_uri": Optional<String>.none]), is: .argument("field_missing"),
        field: "redirect_uri")
      let alias = try await answer(["redirect_uri": Optional<String>.none, "return_url": WebApp.returnURL])
      #expect(alias.status == 302)
    }
  }

  @Test func `a person whose app is not known gets a page, and a program the envelope`() async throws {
    try await withFlow { service, _, _ in
      let accept = [(name: "Accept", value: "text/html,application/xhtml+xml,*/*;q=0.8")]
      let path = WebApp().path(["redirect_uri": "https://evil.example.com/<script>"])
      let page = try await service.get(path, headers: accept + [("X-Request-Id", "<b>mine</b>")])
      #expect(page.status == 400)
      #expect(page.header("Content-Type") == "text/html; charset=utf-8")
      #expect(page.header("Content-Security-Policy")?.hasPrefix("default-src 'none'") == true)
      let text = String(decoding: page.body, as: UTF8.self)
      #expect(text.contains("return_url_not_allowed") && text.contains("&lt;b&gt;mine&lt;/b&gt;"))
      #expect(!text.contains("evil") && !text.contains("<b>"))
      let form = "application/x-www-form-urlencoded"
      let forged = try await service.send(
        .post("/v1/apple/callback", Array("state=x".utf8), type: form, headers: accept))
      #expect(forged.status == 400 && String(decoding: forged.body, as: UTF8.self).contains("state_invalid"))
      try expect(
        try await service.get(path, headers: [("Accept", "*/*")]),
        is: Refusal(400, "INVALID_CONTINUE_URI", "return_url_not_allowed"))
    }
  }

  @Test func `a sign-in takes one of the rate, and who has none left is sent back with that word`()
    async throws
  {
    try await withFlow(["BRAMLEY_RATE_SIGNIN": "3/h"]) { service, apple, _ in
      let app = WebApp()
      var browser = WebBrowser(service)
      for _ in 1...3 {
        let answer = try await app.trade(try await code(app, &browser, apple), at: service)
        #expect(answer.status == 200, "\(answer)")
      }
      let held = try await service.get(app.path())
      #expect(
        held.status == 302 && held.header("Location")?.contains("error=too_many_attempts_try_later") == true)
      #expect((held.header("Retry-After").flatMap { Int($0) } ?? 0) > 60)
    }
  }

  @Test func `what comes back of one attempt, and what never was one, is counted as well`() async throws {
    try await withFlow(["BRAMLEY_RATE_SIGNIN": "3/h"]) { service, apple, _ in
      var browser = WebBrowser(service)
      let posted = try await browser.agree(
        try await browser.begin(WebApp()), to: apple, subject: Mint.subject(), button: "cancel")
      var words: [String?] = []
      for _ in 1...4 {
        words.append(try await browser.come(back: posted).returned(to: WebApp.returnURL)["error"])
      }
      #expect(
        words == Array(repeating: "user_cancelled_authorize", count: 3) + ["too_many_attempts_try_later"])
      var statuses: [Int] = []
      for _ in 1...3 { statuses.append(try await browser.come(back: [("state", "forged")]).status) }
      #expect(statuses == [400, 400, 429])
    }
  }

  @Test func `an address that another account has is told at the return URL`() async throws {
    try await withFlow(["BRAMLEY_ACCOUNT_LINKING": "verified-email"]) { service, apple, stage in
      let address = "ada.\(Mint.number())@example.com"
      _ = try await service.signIn(
        Mint.credential {
          $0.email = address
          $0.claims = [("email_verified", .flag(false))]
        })
      var browser = WebBrowser(service)
      let fields = try await browser.begin(WebApp())
      let posted = try await browser.agree(fields, to: apple, subject: Mint.subject(), email: address)
      let told = try await browser.come(back: posted).returned(to: WebApp.returnURL)
      #expect(told["error"] == "email_exists" && told["code"] == nil)
      #expect(told["state"] == "what the app wants back")
      #expect(try await stage.sql("SELECT count(*) FROM accounts") == "1")
    }
  }

  @Test func `the name of a person who is known is kept though nobody trades the code`() async throws {
    try await withFlow { service, apple, _ in
      let subject = Mint.subject()
      let session = try await service.signIn(subject: subject)
      var browser = WebBrowser(service)
      _ = try await code(WebApp(), &browser, apple, subject: subject)
      let account = try await service.account(session.idToken)
      #expect(account.text("displayName") == "Ada Lovelace")
    }
  }

  @Test func `a code of another person beside a good token is refused, in the browser and from an app`()
    async throws
  {
    try await withFlow { service, apple, stage in
      var browser = WebBrowser(service)
      let fields = try await browser.begin(WebApp())
      let posted = try await browser.agree(fields, to: apple, subject: Mint.subject())
      let foreign = try Mint.code(Mint.subject(), client: Client.web)
      let mixed = posted.filter { $0.0 != "code" } + [("code", foreign)]
      let back = try await browser.come(back: mixed).returned(to: WebApp.returnURL)
      #expect(back["error"] == "code_mismatch")
      let (credential, _) = try Mint.credentialWithCode()
      let answer = try await service.trySignIn(
        credential, ["authorizationCode": "\"\(try Mint.code(Mint.subject()))\""])
      try expect(answer, is: .token("code_mismatch"))
      let queued = try await stage.sql("SELECT count(*) FROM apple_work")
      #expect(queued == "0")
    }
  }

  @Test func `a person who is disabled is told so at the trade`() async throws {
    try await withFlow { service, apple, stage in
      let subject = Mint.subject()
      let app = WebApp()
      var browser = WebBrowser(service)
      let first = try await app.trade(try await code(app, &browser, apple, subject: subject), at: service)
        .json
      let disabled = try await stage.command("users", "disable", try #require(first.text("user_id")))
      #expect(disabled.status == 0)
      let again = try await code(app, &browser, apple, subject: subject)
      try expect(try await app.trade(again, at: service), is: Refusal(400, "USER_DISABLED"))
    }
  }

  @Test func `the demonstration is there in development alone`() async throws {
    try await withFlow { service, _, _ in
      let answer = try await service.get("/console/signin-demo")
      #expect(answer.status == 404)
    }
    try await withFlow(["BRAMLEY_DEV_MODE": "true"]) { service, _, _ in
      for (path, type) in [("", "text/html"), (".js", "text/javascript"), (".css", "text/css")] {
        let answer = try await service.send(
          HTTPRequest(path: "/console/signin-demo" + path, host: "127.0.0.1:\(service.port)"))
        #expect(answer.status == 200)
        #expect(answer.header("Content-Type") == type + "; charset=utf-8")
        #expect(answer.header("Content-Security-Policy")?.hasPrefix("default-src 'none'") ?? false)
      }
      // Another name of this machine: its cookies and its return URL would be others'.
      let other = try await service.send(
        HTTPRequest(path: "/console/signin-demo", host: "localhost:\(service.port)"))
      #expect(other.status == 302)
      #expect(other.header("Location") == service.baseURL + "/console/signin-demo")
    }
  }
}
