package import Domain
internal import Wire

/// What Apple gives for a code or a refresh token.
package struct TokenAnswer: Sendable {
  /// Nil for a refresh: the one that was sent stays good.
  package let refreshToken: Secret<String>?
  package let accessToken: Secret<String>?
  package let idToken: Secret<String>?

  /// Reads an answer of the token endpoint (RFC 6749 §5.1, §5.2).
  package init(_ response: FetchResponse) throws(AppleFault) {
    let object = try jsonObject(of: response)
    guard response.status == 200 else { throw AppleFault(errorOf: object) }
    func secret(_ name: String) -> Secret<String>? {
      object.text(name).flatMap { $0.isEmpty ? nil : Secret($0) }
    }
    refreshToken = secret("refresh_token")
    accessToken = secret("access_token")
    idToken = secret("id_token")
    guard accessToken != nil else { throw .transient(.unexpected) }
  }
}

/// Apple's endpoints for codes and tokens. Every call names its client and carries a secret made for it.
package struct AppleEndpoints: Sendable {
  private let baseURL: String
  private let fetcher: any HTTPFetching
  private let clock: WallClock

  /// - Parameter baseURL: Where `/auth/token` and `/auth/revoke` are.
  package init(baseURL: String, fetcher: any HTTPFetching, clock: WallClock) {
    self.baseURL = baseURL
    self.fetcher = fetcher
    self.clock = clock
  }

  /// Trades a code. Only once may that be tried as if it were the first time.
  ///
  /// - Parameter redirectURI: The one of the authorization request, if there was one: of a native code there was none.
  package func exchange(
    code: Secret<String>, redirectURI: String?, for client: ClientID, by key: TeamKey
  ) async throws(AppleFault) -> TokenAnswer {
    var fields = [("grant_type", "authorization_code"), ("code", code.reveal())]
    if let redirectURI { fields.append(("redirect_uri", redirectURI)) }
    return try TokenAnswer(try await post("/auth/token", fields, for: client, by: key))
  }

  /// Asks whether a refresh token is good: it returns if it is.
  package func refresh(
    _ token: Secret<String>, for client: ClientID, by key: TeamKey
  ) async throws(AppleFault) {
    let fields = [("grant_type", "refresh_token"), ("refresh_token", token.reveal())]
    _ = try TokenAnswer(try await post("/auth/token", fields, for: client, by: key))
  }

  /// Ends the person's consent. Apple answers alike for a token that it does not know: returning is no proof.
  ///
  /// - Parameter hint: `refresh_token` or `access_token`; a wrong one may be refused (TN3107). Nil has Apple look itself.
  package func revoke(
    _ token: Secret<String>, hint: String?, for client: ClientID, by key: TeamKey
  ) async throws(AppleFault) {
    let fields = [("token", token.reveal())] + (hint.map { [("token_type_hint", $0)] } ?? [])
    let response = try await post("/auth/revoke", fields, for: client, by: key)
    // The body of success is empty: a page with status 200 is somebody else's, and nothing was revoked.
    if response.status == 200, response.body.isEmpty { return }
    let object = try jsonObject(of: response)
    guard response.status == 200, object["error"] == nil else { throw AppleFault(errorOf: object) }
  }

  func post(
    _ path: String, _ fields: [(name: String, value: String)], bearer: Secret<String>? = nil,
    for client: ClientID, by key: TeamKey
  ) async throws(AppleFault) -> FetchResponse {
    let secret: Secret<String>
    do {
      secret = try key.clientSecret(for: client, at: clock.now())
    } catch {
      throw .misconfigured(.cannotSign)
    }
    let all = [("client_id", client.text), ("client_secret", secret.reveal())] + fields
    let body = all.map { "\($0)=\(percentEncoded($1))" }.joined(separator: "&")
    let request = FetchRequest(
      method: .post, url: baseURL + path,
      headers: [("Content-Type", "application/x-www-form-urlencoded"), ("Accept", "application/json")]
        + (bearer.map { [("Authorization", "Bearer " + $0.reveal())] } ?? []),
      body: Array(body.utf8), connectMilliseconds: 3000, totalMilliseconds: 10_000, bodyLimit: 64 * 1024)
    do {
      return try await fetcher.fetch(request)
    } catch {
      throw .transient(AppleFault.Trouble(error))
    }
  }
}

/// The object of an answer that is one; what throttles or fails has often a page instead.
func jsonObject(of response: FetchResponse) throws(AppleFault) -> JSONObject {
  switch response.status {
  case 429: throw .throttled(after: secondsToWait(retryAfter: response.retryAfter, now: response.date))
  case 500...: throw .transient(.serverError)
  default: break
  }
  do {
    return try JSONObject(parsing: response.body)
  } catch {
    throw .transient(.notJSON)
  }
}

extension AppleFault {
  /// What an error answer says (RFC 6749 §5.2); its description is for people, and no two are alike.
  init(errorOf object: JSONObject) {
    switch object.text("error") {
    case "invalid_grant": self = .grantRefused
    case let word?:
      self = Misconfiguration(rawValue: word).map { .misconfigured($0) } ?? .transient(.unexpected)
    case nil: self = .transient(.unexpected)
    }
  }
}
