internal import Domain
internal import HTTPServer
internal import Wire

/// What Firebase's SDKs ask about a project before they go on, and what the tools around its emulator ask.
struct FirebaseConfiguration: Sendable {
  let projectID: String
  /// The host of the public URL.
  let domain: String?
  let linking: AccountLinking
  let entropy: Entropy

  /// `GET /v1/projects`, or `getProjectConfig`.
  func project(_ call: Call) -> Response {
    var out = JSONWriter(reserving: 128)
    out.member("projectId", projectID)
    out.member("authorizedDomains", domain.map { [$0] } ?? [])
    return .json(out.finish())
  }

  /// `GET /v2/recaptchaConfig`: nothing is asked of anybody.
  func recaptcha(_ call: Call) -> Response {
    let states = ["EMAIL_PASSWORD_PROVIDER", "PHONE_PROVIDER"].map { provider in
      var out = JSONWriter(reserving: 64)
      out.member("provider", provider)
      out.member("enforcementState", "OFF")
      return out.finish()
    }
    var out = JSONWriter(reserving: 256)
    out.member("recaptchaEnforcementState", jsonArray: states)
    return .json(out.finish())
  }

  /// `accounts:createAuthUri`: whether somebody has an address is nobody's business, so the answer is one for all
  /// (Firebase, "Email enumeration protection").
  func createAuthURI(_ call: Call) throws(Failure) -> Response {
    let body = try call.firebaseBody()
    try body.refuseTenant()
    if try body.text("providerId") != nil { throw Failure(.providerNotEnabled, field: "providerId") }
    guard let identifier = try body.text("identifier") else { throw Failure(.missingIdentifier) }
    guard EmailAddress(identifier) != nil else { throw Failure(.invalidIdentifier) }
    guard let continueURI = try body.text("continueUri") else { throw Failure(.missingContinueURI) }
    guard isAbsoluteURI(continueURI) else { throw Failure(.invalidContinueURI) }
    var out = JSONWriter(reserving: 128)
    out.member("kind", "identitytoolkit#CreateAuthUriResponse")
    out.member("sessionId", base64URLText(entropy.bytes(18)))
    return .json(out.finish())
  }

  /// A body of an older operation, which names the project in it.
  func ownProject(_ body: FirebaseBody) throws(Failure) -> FirebaseBody {
    if let named = try body.text("targetProjectId"), !named.utf8.elementsEqual(projectID.utf8) {
      throw Failure(.configurationNotFound, field: "targetProjectId")
    }
    return body
  }

  /// Operations of sign-in methods that this server does not have.
  func notEnabled(_ call: Call) throws(Failure) -> Response {
    throw Failure(.providerNotEnabled)
  }

  /// Paths with a tenant in them.
  func noTenant(_ call: Call) throws(Failure) -> Response {
    throw Failure(.tenantNotFound)
  }

  /// `GET /` of the emulator, by which tools know that it runs.
  func emulator(_ call: Call) -> Response {
    var out = JSONWriter(reserving: 128)
    out.object("authEmulator") { out in
      out.member("ready", true)
      out.member("docs", "https://firebase.google.com/docs/emulator-suite")
      out.member("apiSpec", "/openapi.yaml")
    }
    return .json(out.finish())
  }

  /// `GET /emulator/v1/projects/{project}/config`.
  func emulatorConfiguration(_ call: Call) -> Response {
    var out = JSONWriter(reserving: 128)
    out.object("signIn") { out in out.member("allowDuplicateEmails", linking == .off) }
    out.object("emailPrivacyConfig") { out in out.member("enableImprovedEmailPrivacy", true) }
    return .json(out.finish())
  }
}
