/// `POST /v1/signInWithIdp`, each with an Apple token of its own.
struct SignInWorkload: Workload {
  private let form: RequestForm
  private var share: TokenShare
  private let collects: Bool
  var findings = Findings()

  /// - Parameter collects: Whether the sessions that are opened go into the findings.
  init(_ share: TokenShare, host: String, collects: Bool = false) {
    form = signInForm(host)
    self.share = share
    self.collects = collects
  }

  mutating func appendRequest(slot: Int, to buffer: inout [UInt8]) -> Bool {
    guard let index = share.take() else { return false }
    appendSignIn(form, share.tokens, index, to: &buffer)
    return true
  }

  mutating func took(_ answer: Answer, slot: Int) -> Outcome {
    // A 200 of somebody who signs nobody in is no sign-in.
    guard answer.status == 200, let session = answer.member("idToken"),
      let refresh = answer.member("refreshToken")
    else { return .bad }
    if collects {
      findings.collected.append(Grant(sessionToken: Array(session), refreshToken: Array(refresh)))
    }
    return .good
  }
}

func signInForm(_ host: String) -> RequestForm {
  RequestForm("POST", "/v1/signInWithIdp", host: host, body: "application/json")
}

private let beforeToken = piece(#"{"providerId":"apple.com","idToken":""#)
private let beforeNonce = piece(#"","rawNonce":""#)
private let afterNonce = piece(#""}"#)

/// Appends a sign-in with one of the tokens.
func appendSignIn(_ form: RequestForm, _ tokens: AppleTokens, _ index: Int, to buffer: inout [UInt8]) {
  form.append(
    to: &buffer, body: beforeToken, tokens.token(index), beforeNonce, tokens.nonce(index), afterNonce)
}
