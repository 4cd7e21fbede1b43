/// One request that is the same every time, and is to be answered 200.
struct PlainWorkload: Workload {
  private let request: [UInt8]

  /// `GET` of a path.
  init(path: String, host: String) {
    request = Array("GET \(path) HTTP/1.1\r\nHost: \(host)\r\n\r\n".utf8)
  }

  /// A request of a certain size, which is made of nothing that matters.
  ///
  /// - Parameter hasBody: Whether what is missing in size is a body, or a field of the head.
  init(path: String, host: String, bytes: Int, hasBody: Bool) {
    let head = "\(hasBody ? "POST" : "GET") \(path) HTTP/1.1\r\nHost: \(host)\r\n"
    let field = hasBody ? "Content-Type: application/json\r\nContent-Length: " : "Authorization: Bearer "
    // Behind it come at most a number of three digits and the empty line.
    let rest = [UInt8](repeating: UInt8(ascii: "x"), count: max(bytes - (head + field).utf8.count - 7, 1))
    request =
      hasBody
      ? Array("\(head)\(field)\(rest.count)\r\n\r\n".utf8) + rest
      : Array((head + field).utf8) + rest + [13, 10, 13, 10]
  }

  mutating func appendRequest(slot: Int, to buffer: inout [UInt8]) -> Bool {
    buffer.append(contentsOf: request)
    return true
  }

  mutating func took(_ answer: Answer, slot: Int) -> Outcome { answer.status == 200 ? .good : .bad }
}
