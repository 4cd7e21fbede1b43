internal import AppleIdentity
internal import Domain
internal import HTTPServer
internal import Sessions
internal import Wire

/// `POST /v1/signInWithIdp`, and Firebase's names for it: Apple's ID token, the raw nonce and the person's name for a
/// session. The body has our form or Firebase's, wherever it is posted.
struct SignIn: Sendable {
  let operation: SignInOperation
  let bearers: BearerReader

  func respond(to call: Call) async throws(Failure) -> Response {
    try await operation.counted(call) { () throws(Failure) in
      let body = try call.request.jsonBody()
      return FirebaseSignIn.isForm(of: body, onFirebasePath: call.face == .firebase)
        ? try await respond(to: call, firebase: FirebaseSignIn(FirebaseBody(body)))
        : try await respond(to: call, own: SignInBody(body))
    }
  }

  private func respond(to call: Call, own body: SignInBody) async throws(Failure) -> (SignInResult, Response)
  {
    let order = SignInOrder(
      idToken: body.idToken, rawNonces: [body.rawNonce], pendingToken: nil, name: body.name,
      device: body.device, createsAccount: body.autoCreate, link: try bearers.bearer(of: call.request),
      code: body.code, redirectURI: body.redirectURI)
    let result = try await operation.perform(order, call)
    switch result {
    case .signedIn(let signedIn):
      var out = JSONWriter(reserving: 4096)
      out.signIn(signedIn)
      return (result, .json(out.finish()))
    case .conflict(let conflict): throw conflict.failure
    }
  }

  private func respond(
    to call: Call, firebase body: FirebaseSignIn
  ) async throws(Failure) -> (SignInResult, Response) {
    let result: SignInResult
    // An administrator's bearer stands for an API key here, and for nobody's session.
    if call.administrator == nil, let bearer = try bearers.bearer(of: call.request) {
      // Two sessions would be one field named twice.
      guard body.idToken == nil else { throw Failure(.duplicateMember, field: "idToken") }
      result = try await operation.perform(body.order(link: bearer), call)
    } else {
      let link = try bearers.claims(of: body.idToken)
      result = try await outOfBody { () throws(Failure) in
        try await operation.perform(body.order(link: link), call)
      }
    }
    return (result, try body.response(to: result))
  }
}

extension JSONWriter {
  /// The answer to a sign-in: Firebase's names, and ours. Unknown values are left out.
  mutating func signIn(_ result: SignedIn) {
    let account = result.session.account
    session(result.session)
    member("localId", account.id.text)
    member("providerId", appleProviderID)
    member("federatedId", result.subject.text)
    person(account, isNewUser: result.session.isNewUser)
    member("rawUserInfo", result.rawUserInfo)
    member("oauthIdToken", result.idToken)
    member("sessionId", result.session.session.id.description)
    if let status = account.profile.realUserStatus { member("realUserStatus", status.rawValue) }
  }

  /// What is known of the person.
  mutating func person(_ account: Account, isNewUser: Bool) {
    if let email = account.profile.email {
      member("email", email.text)
      member("emailVerified", account.profile.isEmailVerified)
      member("isPrivateEmail", account.profile.isPrivateEmail)
    }
    member("isNewUser", isNewUser)
    member("displayName", account.displayName)
    member("firstName", account.name?.givenName)
    member("lastName", account.name?.familyName)
    member("fullName", account.name?.fullName)
    member("photoUrl", account.photoURL)
  }

  /// The tokens of a session; how long the session token lives is text, as Firebase's SDKs want it.
  mutating func session(_ issued: IssuedSession) {
    member("idToken", issued.idToken.reveal())
    member("refreshToken", issued.refreshToken.reveal())
    member("expiresIn", String(issued.expiresIn))
  }
}

/// The body of a sign-in in our form, each field of its one type. An e-mail address in it is not read.
private struct SignInBody {
  let idToken: String
  let rawNonce: String
  let name: PersonName?
  let device: Device?
  let autoCreate: Bool
  let code: String?
  let redirectURI: String?

  init(_ body: JSONObject) throws(Failure) {
    let provider = try body.field(text: "providerId")
    guard provider == nil || provider == appleProviderID else { throw Failure(.invalidProviderID) }
    guard let idToken = try body.field(text: "idToken") else {
      throw Failure(.fieldMissing, field: "idToken")
    }
    guard let rawNonce = try body.field(text: "rawNonce", atMost: Limits.nonceBytes) else {
      throw Failure(.nonceMissing, field: "rawNonce")
    }
    self.idToken = idToken
    self.rawNonce = rawNonce
    name = try body.field(object: "fullName").map { fields throws(Failure) in
      try inside("fullName") { () throws(Failure) in try personName(fields) }
    }
    device = try body.device()
    autoCreate = try body.field(flag: "autoCreate") ?? true
    code = try body.field(text: "authorizationCode", atMost: Limits.codeBytes)
    redirectURI = try body.field(text: "redirectUri", atMost: Limits.codeBytes)
  }
}

extension JSONObject {
  /// What a body says of the device.
  func device() throws(Failure) -> Device? {
    try field(object: "device").map { fields throws(Failure) in
      try inside("device") { () throws(Failure) in try makeDevice(fields) }
    }
  }
}

/// Names the field of a failure by its path.
private func inside<R>(_ object: String, _ read: () throws(Failure) -> R) throws(Failure) -> R {
  do {
    return try read()
  } catch {
    throw Failure(error.reason, field: error.field.map { "\(object).\($0)" })
  }
}

private func personName(_ fields: JSONObject) throws(Failure) -> PersonName {
  PersonName(
    givenName: try fields.field(text: "givenName"), familyName: try fields.field(text: "familyName"),
    middleName: try fields.field(text: "middleName"), namePrefix: try fields.field(text: "namePrefix"),
    nameSuffix: try fields.field(text: "nameSuffix"), nickname: try fields.field(text: "nickname"))
}

private func makeDevice(_ fields: JSONObject) throws(Failure) -> Device {
  Device(
    name: try fields.field(text: "name"), model: try fields.field(text: "model"),
    os: try fields.field(text: "os"), appVersion: try fields.field(text: "appVersion"))
}
