import Domain
import Outbound
import Testing

/// A stopped fetcher tells an admitted address from a refused one, and sends nothing for either.
@Suite(.timeLimit(.minutes(3)))
struct AddressTests {
  @Test(arguments: [
    "https://appleid.apple.com/auth/keys", "https://appleid.apple.com", "https://example.com:8443/a?b=c#d",
    "https://10.0.0.7/", "https://[2001:db8::1]:443/", "http://127.0.0.1:8080/", "http://127.255.255.254",
    "http://[::1]:9/x", "http://localhost:1/y?z",
  ])
  func `https to anyone and http to this machine are admitted`(_ url: String) async throws {
    #expect(try await answerWhenStopped(url) == .shuttingDown)
  }

  @Test(arguments: [
    "http://example.com/", "http://10.0.0.7/", "http://192.168.0.1:80/", "http://169.254.169.254/latest",
    "http://128.0.0.1/", "http://127.0.0.1.example.com/", "http://localhost.example.com/",
    "http://localhost./",
    "http://127.1/", "http://2130706433/", "http://0x7f.0.0.1/", "http://0177.0.0.1/", "http://127.0.0.01/",
    "http://127.0.0.256/", "http://127.0.0.1.:80/", "http://[::ffff:127.0.0.1]/", "http://[::]/", "http://0/",
  ])
  func `http to anything but a plain loopback address is refused`(_ url: String) async throws {
    #expect(try await answerWhenStopped(url) == .addressNotAllowed)
  }

  @Test(arguments: [
    "file:///etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1/", "ws://127.0.0.1/",
    "HTTPS://example.com/",
    "https:/example.com", "https:example.com", "//example.com/", "example.com", "127.0.0.1:80", "",
    "https://",
    "https:///path", "dict://localhost/",
  ])
  func `another scheme or none is refused`(_ url: String) async throws {
    #expect(try await answerWhenStopped(url) == .addressNotAllowed)
  }

  @Test(arguments: [
    "https://user@example.com/", "https://user:word@example.com/", "http://127.0.0.1@example.com/",
    "http://example.com@127.0.0.1/", "https://example.com\\@127.0.0.1/", "https://exa\nmple.com/",
    "https://example.com/\r\nHost: other", "https://example.com/\u{0}", "https://example.com/a b",
    "https://ex%61mple.com/", "https://exämple.com/", "https://example.com:/", "https://example.com:0/",
    "https://example.com:65536/", "https://example.com:+80/", "https://example.com:80:80/", "https://[::1/",
    "https://[]/", "https://[::1]x/", "https://[::1%25lo]/", "https://example.com/ä",
  ])
  func `a URL with a user, an escape in the host or a stray byte is refused`(_ url: String) async throws {
    #expect(try await answerWhenStopped(url) == .addressNotAllowed)
  }

  private func answerWhenStopped(_ url: String) async throws -> FetchError? {
    let fetcher = try CurlFetcher(version: "1", limit: 1, authorityFile: nil)
    await fetcher.stop()
    return await failure { () async throws(FetchError) in try await fetcher.fetch(.get(url)) }
  }
}
