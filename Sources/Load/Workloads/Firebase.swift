/// What Firebase's SDK for iOS sends: verifyAssertion, getAccountInfo, and a refresh when its time has come.
struct FirebaseWorkload: Workload {
  private enum Step { case signIn, lookup, refresh }

  private struct Seat {
    var step = Step.signIn
    var sessionToken: [UInt8] = []
    var refreshToken: [UInt8] = []
  }

  private let signIn: RequestForm
  private let lookup: RequestForm
  private let refresh: RequestForm
  private var share: TokenShare
  private var seats: [Seat]
  private let firstSlot: Int

  init(_ share: TokenShare, host: String, slots: Range<Int>) {
    func form(_ path: String) -> RequestForm {
      RequestForm("POST", path + "?key=AIzaBench", host: host, body: "application/json")
    }
    signIn = form("/identitytoolkit/v3/relyingparty/verifyAssertion")
    lookup = form("/identitytoolkit/v3/relyingparty/getAccountInfo")
    refresh = form("/v1/token")
    self.share = share
    seats = Array(repeating: Seat(), count: slots.count)
    firstSlot = slots.lowerBound
  }

  mutating func appendRequest(slot: Int, to buffer: inout [UInt8]) -> Bool {
    let seat = seats[slot - firstSlot]
    switch seat.step {
    case .signIn:
      guard let index = share.take() else { return false }
      signIn.append(
        to: &buffer, body: beforeToken, share.tokens.token(index), beforeNonce, share.tokens.nonce(index),
        afterNonce)
    case .lookup: lookup.append(to: &buffer, body: beforeSession, seat.sessionToken[...], end)
    case .refresh: refresh.append(to: &buffer, body: beforeRefresh, seat.refreshToken[...], end)
    }
    return true
  }

  mutating func took(_ answer: Answer, slot: Int) -> Outcome {
    let place = slot - firstSlot
    guard answer.status == 200 else {
      seats[place].step = .signIn
      return .bad
    }
    switch seats[place].step {
    case .signIn:
      guard let session = answer.member("idToken"), let refresh = answer.member("refreshToken") else {
        return .bad
      }
      seats[place] = Seat(step: .lookup, sessionToken: Array(session), refreshToken: Array(refresh))
    case .lookup:
      guard answer.member("localId") != nil else { return .bad }
      seats[place].step = .refresh
    case .refresh:
      seats[place].step = .signIn
      guard answer.member("access_token") != nil else { return .bad }
    }
    return .good
  }

  mutating func lost(slot: Int) { seats[slot - firstSlot].step = .signIn }
}

private let beforeToken = piece(
  #"{"requestUri":"http://localhost","returnSecureToken":true,"returnIdpCredential":true,"autoCreate":true,"#
    + #""postBody":"providerId=apple.com&id_token="#)
private let beforeNonce = piece("&nonce=")
private let afterNonce = piece(#""}"#)
private let beforeSession = piece(#"{"idToken":""#)
private let beforeRefresh = piece(#"{"grantType":"refresh_token","refreshToken":""#)
private let end = piece(#""}"#)
