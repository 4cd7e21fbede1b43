import Contract
import Testing

/// The document's examples against the real program; the client itself holds every answer against the document.
@Suite(.timeLimit(.minutes(10)))
struct ExampleTests {
  /// So that every route is there, and everybody is let in to it.
  private static let settings = ["BRAMLEY_DEV_MODE": "true", "BRAMLEY_ANONYMOUS": "true"]

  @Test func `every example of a request gets an answer that is described`() async throws {
    let document = try APIDocument.shared.get()
    // Well-formed in everything, so that it is judged by what it says: made-up tokens, and accounts that are not there.
    let reasons: Set = [
      "header_not_allowed", "audience_not_allowed", "refresh_token_unknown", "invalid_refresh_token",
      "session_token_invalid", "invalid_pending_token", "custom_tokens_not_enabled", "user_not_found",
      "code_invalid", "state_invalid", "hand_over_not_enabled",
    ]
    try await withService(Self.settings) { service in
      var sent = 0
      for operation in document.operations {
        for (type, content) in operation.node["requestBody"]?["content"]?.members ?? [:] {
          for (name, example) in content["examples"]?.members ?? [:] {
            let value = try #require(example["value"], "\(operation.name) \(name)")
            let body = type == "application/json" ? value.json : form(value)
            var request = HTTPRequest.post(
              path(of: operation), Array(body.utf8), type: type,
              headers: try await headers(of: operation, service))
            request.method = operation.method
            let answer = try await service.send(request)
            #expect(operation.statuses.contains(answer.status), "\(operation.name) \(name) \(answer)")
            #expect(
              answer.status == 200 || reasons.contains(answer.reason ?? ""),
              "\(operation.name) \(name) \(answer)")
            sent += 1
          }
        }
      }
      #expect(sent >= 40)
    }
  }

  @Test func `every operation without a body is answered as described`() async throws {
    let document = try APIDocument.shared.get()
    try await withService(Self.settings) { service in
      _ = try await service.signIn(Mint.credential())
      for operation in document.operations where operation.node["requestBody"] == nil {
        // An operation that is there to be refused describes no 200.
        // What names somebody finds nobody.
        let status = operation.statuses.contains(200) && !operation.path.contains("{user}") ? 200 : 400
        let request = HTTPRequest(
          method: operation.method, path: path(of: operation), host: "127.0.0.1:\(service.port)",
          headers: try await headers(of: operation, service))
        let answer = try await service.send(request)
        #expect(
          answer.status == status || (answer.status == 404 && operation.path.contains("{session}")),
          "\(operation.name) \(answer)")
        guard operation.method == "GET" else { continue }
        var head = request
        head.method = "HEAD"
        #expect(try await service.send(head).status == answer.status, "\(operation.name)")
      }
    }
  }

  private func path(of operation: APIDocument.Operation) -> String {
    operation.path.replacing("{project}", with: "bramley").replacing("{tenant}", with: "t")
      .replacing("{operation}", with: "accounts:lookup").replacing("{user}", with: "nobody")
      .replacing("{session}", with: String(repeating: "0", count: 32)).replacing("{path}", with: "a")
  }

  /// The bearer that the operation wants: of a person who signed in for it, or that of development mode.
  private func headers(
    of operation: APIDocument.Operation, _ service: Service
  ) async throws -> [(name: String, value: String)] {
    let ways = (operation.node["security"]?.items ?? []).map { Set(($0.members ?? [:]).keys) }
    guard !ways.isEmpty, !ways.contains([]) || operation.path.hasPrefix("/v1/signOut") else { return [] }
    let isPersons = ways.contains { $0.contains("sessionToken") }
    let bearer = isPersons ? try await service.signIn(Mint.credential()).idToken : "owner"
    return [("Authorization", "Bearer \(bearer)")]
  }

  @Test func `the document that is served is the file, byte for byte`() async throws {
    try await withService { service in
      let answer = try await service.get("/openapi.yaml")
      #expect(answer.body == (try APIDocument.shared.get().bytes))
      #expect(answer["Content-Type"] == "application/yaml; charset=utf-8")
    }
  }

  private func form(_ value: Node) -> String {
    value.members.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value.text ?? "")" }.joined(separator: "&")
  }
}
