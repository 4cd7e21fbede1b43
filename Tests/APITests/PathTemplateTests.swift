import API
import Testing

private let matches: [(template: String, path: String, parameters: [String: String])] = [
  ("/v1/projects/{project}/accounts:lookup", "/v1/projects/demo-1/accounts:lookup", ["project": "demo-1"]),
  ("/v1/projects/{project}/accounts", "/v1/projects/a/accounts", ["project": "a"]),
  ("/v1/projects/{project}:createSessionCookie", "/v1/projects/a:createSessionCookie", ["project": "a"]),
  ("/v1/projects/{project}:create", "/v1/projects/a:create:create", ["project": "a:create"]),
  (
    "/v1/projects/{project}/tenants/{tenant}/accounts:query", "/v1/projects/p/tenants/t/accounts:query",
    ["project": "p", "tenant": "t"]
  ),
  ("/{project}/.well-known/openid-configuration", "/p/.well-known/openid-configuration", ["project": "p"]),
  ("/v1/projects/{project}", "/v1/projects/a%2Fb+c%20", ["project": "a%2Fb+c%20"]),
  ("/livez", "/livez", [:]),
]

@Suite struct PathTemplateTests {
  @Test(arguments: matches)
  func `a name stands for what is there, as it was sent`(
    _ template: String, _ path: String, _ parameters: [String: String]
  ) {
    #expect(PathTemplate(template).match(path) == parameters)
  }

  @Test(arguments: [
    ("/v1/projects/{project}/accounts", "/v1/projects//accounts"),
    ("/v1/projects/{project}/accounts", "/v1/projects/a/b/accounts"),
    ("/v1/projects/{project}/accounts", "/v1/projects/a/accounts/"),
    ("/v1/projects/{project}/accounts", "/v1/projects/a/Accounts"),
    ("/v1/projects/{project}/accounts", "v1/projects/a/accounts"),
    ("/v1/projects/{project}/accounts", ""),
    ("/v1/projects/{project}:create", "/v1/projects/:create"),
    ("/v1/projects/{project}:create", "/v1/projects/a"),
    ("/v1/projects/{project}:create", "/v1/projects/a%3Acreate"),
    ("/v1/projects/{project}:create", "/v1/projects/a:creates"),
    ("/v1/projects/{project}", "/v1/projects/"),
  ])
  func `anything else is another path`(_ template: String, _ path: String) {
    #expect(PathTemplate(template).match(path) == nil)
  }

  @Test func `a template knows whether anything varies, and how much it says`() {
    #expect(PathTemplate("/v1/token").isExact)
    #expect(!PathTemplate("/v1/{a}").isExact)
    #expect(PathTemplate("/v1/{a}:x").segmentCount == 3)
    #expect(PathTemplate("/v1/{a}:x").literalCount == 4)
    #expect(PathTemplate("/v1/{a}").literalCount < PathTemplate("/v1/{a}:x").literalCount)
  }
}
