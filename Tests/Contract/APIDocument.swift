import Foundation
import Wire

/// `openapi.yaml`, ready to hold answers against.
package struct APIDocument: Sendable {
  package let bytes: [UInt8]
  package let root: Node
  package let operations: [Operation]

  /// One method of one path.
  package struct Operation: Sendable {
    package let method: String
    package let path: String
    package let node: Node
    /// Where it is described: its own path, or what an alias refers to.
    package let source: String

    package var name: String { method + " " + path }

    /// The statuses that are described.
    package var statuses: Set<Int> {
      Set((node["responses"]?.members.keys).map { $0.compactMap { Int($0) } } ?? [])
    }
  }

  /// One answer as a client has it.
  package struct Answer: Sendable {
    package let status: Int
    package let headers: [(name: String, value: String)]
    package let body: [UInt8]

    package init(status: Int, headers: [(name: String, value: String)], body: [UInt8]) {
      self.status = status
      self.headers = headers
      self.body = body
    }

    fileprivate func values(_ name: String) -> [String] {
      headers.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }
  }

  /// The document of this repository.
  package static let shared = Result { try APIDocument(path: repositoryFile("openapi.yaml")) }

  package init(path: String) throws {
    guard let data = FileManager.default.contents(atPath: path) else {
      throw DocumentFault(description: "there is no \(path)")
    }
    try self.init(yaml: Array(data))
  }

  package init(yaml: [UInt8]) throws {
    bytes = yaml
    let root = try Node(yaml: bytes)
    self.root = root
    let methods: Set = ["get", "put", "post", "delete", "options", "head", "patch", "trace"]
    operations = (root["paths"]?.members ?? [:]).flatMap { path, item in
      Schema.resolve(item, in: root).members.filter { methods.contains($0.key) }.map {
        Operation(
          method: $0.key.uppercased(), path: path, node: $0.value, source: item["$ref"]?.text ?? path)
      }
    }
    .sorted { $0.name < $1.name }
  }

  /// The operation that a request names: its own path before a template, and of templates the one that says most.
  package func operation(_ method: String, _ path: String) -> Operation? {
    let ofMethod = operations.filter { $0.method == method }
    return ofMethod.first { $0.path == path }
      ?? ofMethod.filter { matches($0.path, path) }.max { $0.path.utf8.count < $1.path.utf8.count }
  }

  /// The operation of a path that answers every method: OpenAPI has words for some of them only.
  private func everyMethod(_ path: String) -> Operation? {
    operation("GET", path).flatMap { $0.node["x-every-method"] == .flag(true) ? $0 : nil }
  }

  /// What stands at a place of the document, references followed.
  package func resolve(_ node: Node) -> Node { Schema.resolve(node, in: root) }

  /// The words of an enum among the schemas.
  package func words(of schema: String) -> [String] {
    root["components"]?["schemas"]?[schema]?["enum"]?.items.compactMap(\.text) ?? []
  }

  /// Everything in an answer that the document does not describe.
  ///
  /// - Parameters:
  ///   - method: Of the request; nil when the request was none that can be read.
  ///   - target: Of the request, as it was sent.
  package func faults(_ answer: Answer, to method: String?, _ target: String) -> [String] {
    let asked = String(target.prefix { $0 != "?" })
    let path = withoutGoogleHost(asked)
    let isHead = method == "HEAD"
    var faults = answer.values("X-Request-Id").count == 1 ? [] : ["there is no request id"]
    if method == "OPTIONS", everyMethod(path) == nil {
      if answer.status != 204 { faults += failureFaults(answer) }
      return faults
    }
    let operation = operation(isHead ? "GET" : method ?? "", path) ?? everyMethod(path)
    guard let operation else {
      // No operation: nothing but a refusal can be right.
      return faults + (isHead ? [] : failureFaults(answer))
    }
    // Behind a service's name only what that service has is there, which the document does not tell apart.
    if path != asked, answer.status == 404 { return faults + (isHead ? [] : failureFaults(answer)) }
    guard let response = operation.node["responses"]?[String(answer.status)].map(resolve) else {
      return faults + ["\(operation.name) does not describe \(answer.status)"]
    }
    faults += headerFaults(answer, response)
    return isHead ? faults : faults + bodyFaults(answer, response)
  }

  /// What is wrong with an answer that has to be a refusal.
  package func failureFaults(_ answer: Answer) -> [String] {
    guard answer.status >= 400 else { return ["\(answer.status) where only a refusal is right"] }
    guard let object = try? JSONObject(parsing: answer.body) else { return ["the refusal is no JSON"] }
    let node = Node(object)
    var faults = Schema(.map(["$ref": .text("#/components/schemas/Failure")]), in: root).faults(node)
    if node["error"]?["code"]?.integer != Int64(answer.status) {
      faults.append("error.code is not the status")
    }
    let message = node["error"]?["message"]?.text ?? ""
    let word = message.prefix { $0 != " " }
    if !words(of: "Code").contains(String(word)), !words(of: "KeySentence").contains(message) {
      faults.append("`\(word)` is no code of the document")
    }
    if node["error"]?["details"]?.items.first?["requestId"]?.text != answer.values("X-Request-Id").first {
      faults.append("the request id of the body is another")
    }
    return faults
  }

  private func bodyFaults(_ answer: Answer, _ response: Node) -> [String] {
    guard let content = response["content"]?.members, !content.isEmpty else {
      return answer.body.isEmpty ? [] : ["\(answer.status) has a body"]
    }
    let type = String((answer.values("Content-Type").first ?? "").prefix { $0 != ";" })
    guard let schema = content[type]?["schema"] else { return ["the media type `\(type)` is not described"] }
    if type == "application/yaml" {
      guard let node = try? Node(yaml: answer.body) else { return ["the body is no YAML"] }
      return Schema(schema, in: root).faults(node)
    }
    guard type == "application/json" else {
      return Schema(schema, in: root).faults(.text(String(decoding: answer.body, as: UTF8.self)))
    }
    guard let object = try? JSONObject(parsing: answer.body) else { return ["the body is no JSON object"] }
    let faults = Schema(schema, in: root).faults(Node(object))
    return answer.status >= 400 ? faults + failureFaults(answer) : faults
  }

  private func headerFaults(_ answer: Answer, _ response: Node) -> [String] {
    (response["headers"]?.members ?? [:]).flatMap { name, header in
      let header = resolve(header)
      let values = answer.values(name)
      if values.isEmpty { return header["required"] == .flag(true) ? ["there is no \(name)"] : [] }
      guard values.count == 1 else { return ["\(name) is there \(values.count) times"] }
      return Schema(header["schema"] ?? .null, in: root).faults(.text(values[0]), at: name)
    }
  }
}

/// Whether a path is one that a path of the document stands for: `{name}` is one character or more of one segment, but
/// `{path}` at the end is everything below.
private func matches(_ template: String, _ path: String) -> Bool {
  if template.hasSuffix("/{path}") { return path.hasPrefix(template.dropLast("{path}".count)) }
  let (wanted, given) = (template.components(separatedBy: "/"), path.components(separatedBy: "/"))
  return wanted.count == given.count
    && zip(wanted, given).allSatisfy { wanted, given in
      guard wanted.hasPrefix("{"), let end = wanted.firstIndex(of: "}") else { return wanted == given }
      let tail = wanted[wanted.index(after: end)...]
      return given.count > tail.count && given.hasSuffix(tail)
    }
}

/// A path without the service of Google's that it begins with: the document has each operation once.
private func withoutGoogleHost(_ path: String) -> String {
  let hosts = [
    "identitytoolkit.googleapis.com", "securetoken.googleapis.com", "www.googleapis.com",
    "securetoken.google.com",
  ]
  let host = hosts.first { path.hasPrefix("/\($0)/") }
  return host.map { String(path.dropFirst($0.count + 1)) } ?? path
}

/// The path of a file of this repository.
package func repositoryFile(_ name: String, from file: String = #filePath) -> String {
  URL(fileURLWithPath: file).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent(name).path
}
