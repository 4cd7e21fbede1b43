import Contract
import Testing

/// The document's examples against the real program; the client itself holds every answer against the document.
@Suite(.timeLimit(.minutes(2)))
struct ExampleTests {
  @Test func `every example of a request gets an answer that is described`() async throws {
    let document = try APIDocument.shared.get()
    try await withService { service in
      var sent = 0
      for operation in document.operations {
        for (type, content) in operation.node["requestBody"]?["content"]?.members ?? [:] {
          for (name, example) in content["examples"]?.members ?? [:] {
            let value = try #require(example["value"], "\(operation.name) \(name)")
            let body = type == "application/json" ? value.json : form(value)
            let answer = try await service.send(.post(operation.path, Array(body.utf8), type: type))
            #expect(operation.statuses.contains(answer.status), "\(operation.name) \(name) \(answer)")
            // Well-formed in everything, so that it is judged by what it says.
            #expect(
              [
                "header_not_allowed", "audience_not_allowed", "refresh_token_unknown",
                "invalid_refresh_token",
              ]
              .contains(answer.reason), "\(operation.name) \(name) \(answer)")
            sent += 1
          }
        }
      }
      #expect(sent >= 4)
    }
  }

  @Test func `every operation without a body is answered as described`() async throws {
    let document = try APIDocument.shared.get()
    try await withService { service in
      _ = try await service.signIn(Mint.credential())
      for operation in document.operations where operation.node["requestBody"] == nil {
        let request = HTTPRequest(method: operation.method, path: operation.path)
        #expect(try await service.send(request).status == 200, "\(operation.name)")
        guard operation.method == "GET" else { continue }
        let head = HTTPRequest(method: "HEAD", path: operation.path)
        #expect(try await service.send(head).status == 200, "\(operation.name)")
      }
    }
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
