extension JSONValue {
  /// The value as JSON. A number without a JSON form (NaN, infinity) becomes null; the reader makes none.
  package var encoded: [UInt8] {
    switch self {
    case .null: Array("null".utf8)
    case .flag(let flag): Array((flag ? "true" : "false").utf8)
    case .integer(let number): Array(String(number).utf8)
    case .real(let number): Array((number.isFinite ? String(number) : "null").utf8)
    case .text(let text):
      {
        var out: [UInt8] = []
        appendJSONString(text, to: &out)
        return out
      }()
    case .array(let values):
      Array("[".utf8) + Array(values.map(\.encoded).joined(separator: [UInt8(ascii: ",")])) + Array("]".utf8)
    case .object(let object): object.bytes
    }
  }
}
