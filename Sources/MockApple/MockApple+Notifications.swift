package import Crypto
package import Domain
internal import HTTPServer
internal import Wire

// What Apple tells services without being asked, here on command.
extension MockApple {
  /// The notification that was ordered, as the value of `payload`; nil when it names a key that is not there.
  ///
  /// - Parameter id: Its `jti`, unless the order names one.
  package func notification(_ order: NotificationOrder, id: String) throws(CryptoError) -> String? {
    var token = order.tokenOrder(id: id, now: clock.now())
    if order.isUnsigned { token.header.append(("alg", .text("none"))) }
    guard let signed = try mint(token) else { return nil }
    guard order.isUnsigned, let end = signed.lastIndex(of: ".") else { return signed }
    return String(signed[...end])
  }

  /// Sends a notification to a service, as Apple does.
  package func notify(
    _ url: String, _ payload: String, by fetcher: any HTTPFetching
  ) async throws(FetchError) -> FetchResponse {
    try await fetcher.fetch(
      FetchRequest(
        method: .post, url: url, headers: [("Content-Type", "application/json")],
        body: NotificationOrder.body(payload), connectMilliseconds: 3000, totalMilliseconds: 10_000,
        bodyLimit: 64 * 1024))
  }

  /// Answers `POST /notify`: makes what the body orders, sends it to its `url`, and tells what came back. With no `url`
  /// it is only shown.
  func notify(_ request: Request, by fetcher: any HTTPFetching, id: String) async -> Response {
    guard let body = try? JSONObject(parsing: request.body) else {
      return refusal(400, "the body is no JSON object")
    }
    do {
      let url = try body.optionalText("url")
      guard let payload = try notification(try NotificationOrder(body), id: id) else {
        return refusal(400, "there is no key of that name")
      }
      var out = JSONWriter(reserving: 2048)
      out.member("payload", payload)
      if let url {
        let answer = try await notify(url, payload, by: fetcher)
        out.member("status", Int64(answer.status))
        out.member("answer", String(decoding: answer.body, as: UTF8.self))
      }
      return json(out.finish())
    } catch let error as JSONTypeError {
      return refusal(400, "`\(error.member)` has a wrong value")
    } catch {
      return refusal(502, "\(error)")
    }
  }
}
