import Foundation
import TestProcesses
import Testing
import Wire

/// The scripts of the README's section for apps, as they stand there, with a stand-in for what the platform has.
@Suite(.timeLimit(.minutes(10)))
struct ReadmeScriptTests {
  @Test func `the page's script signs a person in by the web flow`() async throws {
    let script = try readmeScript(under: "A plain web page")
    let apple = try await MockAppleProgram.start()
    try await withStage(appleURL: apple.baseURL) { stage in
      let service = try await stage.start(WebApp.settings.merging(["BRAMLEY_RETURN_URLS": returnURL]) { $1 })
      let page = Page(script: script, service: service, stage: stage)
      let begun = try await page.run("await begin();", search: "", kept: "{}")
      let target = try #require(begun.text("location"))
      #expect(target.hasPrefix(service.baseURL + "/v1/apple/authorize?"))
      var browser = WebBrowser(service)
      let fields = try await browser.follow(String(target.dropFirst(service.baseURL.utf8.count)))
      let posted = try await browser.agree(fields, to: apple, subject: Mint.subject())
      let answer = try await browser.come(back: posted)
      let back = try #require(answer.header("Location"))
      #expect(back.hasPrefix(returnURL + "?"))
      let kept = try #require(begun.text("kept"))
      let search = String(back.dropFirst(returnURL.utf8.count))
      // Somebody else's answer is none.
      let foreign = try await page.run(
        "try { await finish(); } catch (error) { outcome = { refused: error.message }; }",
        search: search.replacing("state=", with: "state=x"), kept: kept)
      #expect(foreign.object("outcome")?.text("refused") == "another sign-in")
      let finished = try await page.run("outcome = await finish();", search: search, kept: kept)
      let session = try #require(finished.object("outcome"), "\(finished)")
      #expect(finished.text("kept") == "{}")
      #expect(finished.text("shown") == "/signed-in")
      _ = try await service.refresh(try #require(session.text("refresh_token")))
      // The code is used up, and no answer for a session.
      let again = try await page.run(
        "try { await finish(); } catch (error) { outcome = { refused: error.message }; }", search: search,
        kept: kept)
      #expect(again.object("outcome")?.text("refused")?.hasPrefix("INVALID_CODE : ") == true, "\(again)")
    }
    try await apple.kill()
  }

  @Test func `React Native's library brings the raw nonce, and the script sends it as it is`() async throws {
    let script = try readmeScript(under: "React Native")
    try await withStage { stage in
      let service = try await stage.start()
      let credential = try Mint.credential()
      let page = Page(script: "", service: service, stage: stage)
      let library = """
        const appleAuth = {
          Operation: { LOGIN: 1 }, Scope: { FULL_NAME: 1, EMAIL: 0 },
          performRequest: async () => ({
            identityToken: "\(credential.idToken)", nonce: "\(credential.rawNonce)", authorizationCode: null,
            fullName: { givenName: "Ada", familyName: null },
          }),
        };
        """
      let finished = try await page.run(
        """
        \(library)
        \(script)
        outcome = session;
        """, search: "", kept: "{}")
      let session = try #require(finished.object("outcome"))
      #expect(session.text("displayName") == "Ada")
      _ = try await service.refresh(try #require(session.text("refreshToken")))
      // Apple's token is used up, and the refusal is no session.
      let refused = try await page.run(
        "try { \(library) \(script) } catch (error) { outcome = { refused: error.message }; }", search: "",
        kept: "{}")
      let message = refused.object("outcome")?.text("refused")
      #expect(message?.hasPrefix("MISSING_OR_INVALID_NONCE : ") == true, "\(refused)")
    }
  }
}

private let returnURL = "https://app.example.com/signed-in"

/// A page of an app, as far as a script of the README sees it, in Node.
private struct Page {
  let script: String
  let service: Service
  let stage: Stage

  /// Runs the script and then something more.
  ///
  /// - Parameters:
  ///   - search: The query of the page's address, with its question mark.
  ///   - kept: What the page's storage has, as JSON.
  /// - Returns: `location` where the page was sent to, `kept` what its storage has in the end, `shown` what the browser shows
  ///   as its address, and `outcome`.
  func run(_ more: String, search: String, kept: String) async throws -> JSONObject {
    let path = try stage.write(
      """
      import { webcrypto } from "node:crypto";
      globalThis.crypto ??= webcrypto;
      const store = new Map(Object.entries(\(kept)));
      const sessionStorage = {
        getItem: (name) => store.get(name) ?? null, setItem: (name, text) => void store.set(name, text),
        removeItem: (name) => void store.delete(name),
      };
      let target = "", outcome = null;
      const location = { pathname: "/signed-in", search: "\(search)", assign: (url) => { target = String(url); } };
      let shown = location.pathname + location.search;
      const history = { replaceState: (_, __, url) => { shown = url; } };
      \(script.replacing("https://auth.example.com", with: service.baseURL))
      \(more.replacing("https://auth.example.com", with: service.baseURL))
      console.log(JSON.stringify({ location: target, kept: JSON.stringify(Object.fromEntries(store)), shown, outcome }));
      """, to: "page.mjs")
    let finished = try await EndToEndTests.run("/usr/bin/node", [path])
    try #require(finished.status == 0, "\(finished.errors)")
    return try finished.json
  }
}

/// The first JavaScript under a heading of the README.
private func readmeScript(under heading: String) throws -> String {
  let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("README.md")
  let text = try String(contentsOf: file, encoding: .utf8)
  let section = try #require(text.components(separatedBy: "### \(heading)\n").dropFirst().first)
  let script = try #require(section.components(separatedBy: "```js\n").dropFirst().first)
  return script.components(separatedBy: "```")[0]
}
