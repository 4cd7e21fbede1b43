import Contract
import Testing

/// The judge judged: a validator that takes everything would let every test pass.
@Suite struct SchemaTests {
  private func faults(_ schema: String, _ value: String) throws -> [String] {
    let document = try Node(yaml: Array("a:\n  text: {type: string}\nschema: \(schema)".utf8))
    return Schema(document["schema"] ?? .null, in: document).faults(
      try Node(yaml: Array("v: \(value)".utf8))["v"] ?? .null)
  }

  @Test(arguments: [
    ("{type: string}", "'1'"), ("{type: [string, 'null']}", "null"), ("{type: integer}", "7"),
    ("{const: ok}", "ok"), ("{enum: [a, b, null]}", "null"), ("{pattern: '^a+$'}", "aaa"),
    ("{minLength: 2, maxLength: 2}", "éé"),
    ("{required: [a], properties: {a: {type: boolean}}}", "{a: true}"),
    ("{items: {type: integer}, minItems: 2}", "[1, 2]"), ("{$ref: '#/a/text'}", "x"),
    ("{oneOf: [{type: string}, {type: integer}]}", "1"), ("{anyOf: [{const: a}, {type: string}]}", "a"),
    ("{not: {required: [d]}}", "{e: 1}"), ("{additionalProperties: {type: string}}", "{a: b}"),
    ("{additionalProperties: false, properties: {a: {}}}", "{a: 1}"),
  ])
  func `what a schema allows is taken`(_ schema: String, _ value: String) throws {
    #expect(try faults(schema, value) == [])
  }

  @Test(arguments: [
    ("{type: string}", "1"), ("{type: [string, 'null']}", "true"), ("{type: integer}", "'7'"),
    ("{const: ok}", "no"), ("{enum: [a, b]}", "null"), ("{pattern: '^a+$'}", "ab"), ("{minLength: 2}", "é"),
    ("{maxLength: 2}", "abc"), ("{required: [a]}", "{b: 1}"),
    ("{properties: {a: {type: boolean}}}", "{a: 1}"),
    ("{items: {type: integer}}", "[a]"), ("{minItems: 2}", "[1]"), ("{$ref: '#/a/text'}", "1"),
    ("{$ref: '#/a/nothing'}", "1"), ("{oneOf: [{type: string}, {const: a}]}", "a"),
    ("{anyOf: [{const: a}, {const: b}]}", "c"), ("{not: {required: [d]}}", "{d: 1}"),
    ("{additionalProperties: {type: string}}", "{a: 1}"), ("{additionalProperties: false}", "{a: 1}"),
    ("{multipleOf: 2}", "2"),
  ])
  func `what a schema forbids, and a word that it may not use, are faults`(_ schema: String, _ value: String)
    throws
  {
    #expect(try faults(schema, value) != [])
  }

  @Test(arguments: ["a: &x 1\nb: *x", "a: 1\na: 2", "a: [1", ""])
  func `a document that says things twice or not at all is none`(_ text: String) {
    #expect(throws: DocumentFault.self) { try Node(yaml: Array(text.utf8)) }
  }

  @Test func `an answer is held against its operation`() throws {
    let document = try APIDocument.shared.get()
    func faults(_ status: Int, _ body: String, _ method: String = "GET", _ target: String = "/livez") -> Int {
      let headers = [("X-Request-Id", "1"), ("Content-Type", "application/json; charset=utf-8")]
      return document.faults(
        .init(status: status, headers: headers, body: Array(body.utf8)), to: method, target
      ).count
    }
    #expect(faults(200, #"{"status":"ok"}"#) == 0)
    #expect(faults(200, #"{"status":"ok"}"#, "GET", "/livez?key=1") == 0)
    #expect(faults(200, #"{"status":"well"}"#) > 0)
    #expect(faults(200, #"{"status":"ok","more":1}"#) > 0)
    #expect(faults(200, "ok") > 0)
    #expect(faults(201, #"{"status":"ok"}"#) > 0)
    #expect(faults(200, #"{"status":"ok"}"#, "GET", "/nowhere") > 0)
    #expect(faults(200, #"{"status":"ok"}"#, "DELETE") > 0)
    #expect(faults(400, #"{"error":{}}"#) > 0)
  }

  @Test func `paths with names, aliases and Google's hosts are found`() throws {
    let document = try APIDocument(
      yaml: Array(
        """
        paths:
          /v1/projects/{project}:close: {post: {operationId: close}}
          /v1/projects/{project}: {post: {operationId: project}}
          /v1/projects/mine: {post: {operationId: mine}}
          /v1/accounts:lookup: {$ref: '#/components/pathItems/lookup'}
          /v3/getAccountInfo: {$ref: '#/components/pathItems/lookup'}
          /v1/verify/{path}: {get: {operationId: verify, x-every-method: true, responses: {'200': {}}}}
        components:
          pathItems: {lookup: {post: {operationId: lookup, responses: {'200': {}}}}}
        """.utf8))
    func found(_ path: String) -> String? { document.operation("POST", path)?.node["operationId"]?.text }
    #expect(found("/v1/projects/a:close") == "close")
    #expect(found("/v1/projects/a") == "project")
    #expect(found("/v1/projects/mine") == "mine")
    for path in ["/v1/projects/:close/x", "/v1/projects/", "/v1/projects", "/v1/projects/a/b"] {
      #expect(found(path) == nil)
    }
    #expect(found("/v1/accounts:lookup") == "lookup")
    #expect(found("/v3/getAccountInfo") == "lookup")
    #expect(Set(document.operations.map(\.source)).count == 5)
    let answer = APIDocument.Answer(status: 200, headers: [("X-Request-Id", "1")], body: [])
    for host in ["", "/identitytoolkit.googleapis.com", "/www.googleapis.com"] {
      #expect(document.faults(answer, to: "POST", host + "/v1/accounts:lookup?key=1") == [])
    }
    #expect(document.faults(answer, to: "POST", "/evil.example/v1/accounts:lookup") != [])
    for path in ["/v1/verify/", "/v1/verify/a", "/v1/verify/a/b?c"] {
      #expect(document.faults(answer, to: "PROPFIND", path) == [])
    }
    #expect(document.faults(answer, to: "PROPFIND", "/v1/verifyx") != [])
    #expect(document.faults(answer, to: "PROPFIND", "/v1/accounts:lookup") != [])
  }
}
