import Foundation

/// The part of JSON Schema 2020-12 that the document uses. A word that is not known here is a fault of the schema,
/// since a check that is silently left out checks nothing.
package struct Schema: Sendable {
  private let node: Node
  /// The whole document, which `$ref` points into.
  private let document: Node

  package init(_ node: Node, in document: Node) {
    self.node = node
    self.document = document
  }

  /// Words that say nothing about whether a value is valid.
  private static let silent: Set = ["description", "default", "contentMediaType", "examples", "title"]

  /// Everything that is wrong with a value.
  package func faults(_ value: Node, at place: String = "$") -> [String] {
    guard case .map(let words) = node else { return ["\(place): the schema is no object"] }
    return words.sorted { $0.key < $1.key }.flatMap { word, argument in
      Self.silent.contains(word) ? [] : check(value, word, argument, place, words)
    }
  }

  /// What stands at a `$ref`.
  package static func resolve(_ node: Node, in document: Node) -> Node {
    guard let reference = node["$ref"]?.text, reference.hasPrefix("#/") else { return node }
    let target = reference.dropFirst(2).split(separator: "/").reduce(document as Node?) { $0?[String($1)] }
    return target.map { resolve($0, in: document) } ?? .null
  }

  private func check(
    _ value: Node, _ word: String, _ argument: Node, _ place: String, _ words: [String: Node]
  ) -> [String] {
    switch word {
    case "$ref": return sub(Self.resolve(node, in: document)).faults(value, at: place)
    case "type":
      let names = argument.text.map { [$0] } ?? argument.items.compactMap(\.text)
      return names.contains { isOf($0, value) } ? [] : ["\(place): \(value.json) is no \(names)"]
    case "const": return value == argument ? [] : ["\(place): \(value.json) is not \(argument.json)"]
    case "enum": return argument.items.contains(value) ? [] : ["\(place): \(value.json) is not in the list"]
    case "oneOf", "anyOf":
      let good = argument.items.count { sub($0).faults(value).isEmpty }
      return good == 1 || word == "anyOf" && good > 0 ? [] : ["\(place): \(good) of \(word) hold"]
    case "not": return sub(argument).faults(value).isEmpty ? ["\(place): `not` holds"] : []
    case "pattern", "minLength", "maxLength": return checkText(value, word, argument, place)
    case "required", "properties", "additionalProperties":
      return checkObject(value, word, argument, place, words)
    case "items", "minItems": return checkList(value, word, argument, place)
    default: return ["\(place): the schema's word `\(word)` is not known"]
    }
  }

  private func sub(_ node: Node) -> Schema { Schema(node, in: document) }

  private func isOf(_ type: String, _ value: Node) -> Bool {
    switch (type, value) {
    case ("null", .null), ("boolean", .flag), ("integer", .integer), ("number", .integer), ("number", .real),
      ("string", .text), ("array", .list), ("object", .map):
      true
    default: false
    }
  }

  private func checkText(_ value: Node, _ word: String, _ argument: Node, _ place: String) -> [String] {
    guard let text = value.text else { return [] }
    let count = Int64(text.unicodeScalars.count)
    let isRight =
      switch word {
      case "minLength": count >= argument.integer ?? .max
      case "maxLength": count <= argument.integer ?? -1
      default: Patterns.matches(argument.text ?? "(", text)
      }
    return isRight ? [] : ["\(place): \(value.json) breaks \(word) \(argument.json)"]
  }

  private func checkObject(
    _ value: Node, _ word: String, _ argument: Node, _ place: String, _ words: [String: Node]
  ) -> [String] {
    guard case .map(let members) = value else { return [] }
    switch word {
    case "required":
      return argument.items.compactMap(\.text).filter { members[$0] == nil }.map { "\(place): no `\($0)`" }
    case "properties":
      return argument.members.flatMap { name, schema in
        members[name].map { sub(schema).faults($0, at: place + "." + name) } ?? []
      }
    default:
      let extra = members.filter { words["properties"]?[$0.key] == nil }
      if argument == .flag(false) { return extra.keys.map { "\(place): unknown member `\($0)`" } }
      return extra.flatMap { sub(argument).faults($0.value, at: place + "." + $0.key) }
    }
  }

  private func checkList(_ value: Node, _ word: String, _ argument: Node, _ place: String) -> [String] {
    guard case .list(let items) = value else { return [] }
    if word == "minItems" {
      return items.count >= argument.integer ?? .max ? [] : ["\(place): only \(items.count) items"]
    }
    return items.enumerated().flatMap { sub(argument).faults($1, at: "\(place)[\($0)]") }
  }
}

/// Compiled patterns; the same few are asked for again and again.
private enum Patterns {
  private static let lock = NSLock()
  nonisolated(unsafe) private static var compiled: [String: NSRegularExpression] = [:]

  static func matches(_ pattern: String, _ text: String) -> Bool {
    let expression = lock.withLock {
      if compiled[pattern] == nil { compiled[pattern] = try? NSRegularExpression(pattern: pattern) }
      return compiled[pattern]
    }
    return expression?.firstMatch(in: text, range: NSRange(text.startIndex..., in: text)) != nil
  }
}
