// What strangers send, read by our own readers, with libFuzzer choosing it. Built and run by deploy/fuzz.sh; the first
// byte of an input says which reader gets the rest. A reader may refuse; it may not crash, hang, or read two spellings
// as one value.

import AppleIdentity
import Domain
import FirebaseIdentity
import JOSE
import Sessions
import Wire

private let ring: MasterKeyRing? = (try? MasterKey(Secret([UInt8](repeating: 7, count: 32)))).map {
  MasterKeyRing(current: $0, others: [])
}

private let rules = IdentityTokenRules(
  issuers: ["https://appleid.apple.com"],
  clients: [ClientID(unchecked: "com.gameroasters.stack4"): .standard], maximumAge: 3600, leeway: 60)

/// What libFuzzer calls with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  guard let selector = bytes.first else { return 0 }
  let input = Array(bytes.dropFirst())
  switch selector {
  case UInt8(ascii: "b"): base64URL(input)
  case UInt8(ascii: "j"): json(input)
  case UInt8(ascii: "f"): _ = try? FormBody(parsing: input)
  case UInt8(ascii: "t"): token(input)
  case UInt8(ascii: "k"): _ = try? KeySet(parsing: input)
  case UInt8(ascii: "r"): refreshToken(input)
  case UInt8(ascii: "n"): names(input)
  case UInt8(ascii: "e"): export(input)
  default: break
  }
  return 0
}

private func base64URL(_ input: [UInt8]) {
  guard let decoded = try? decodeBase64URL(input) else { return }
  precondition(Array(base64URLText(decoded).utf8) == input, "two spellings of one value")
}

private func json(_ input: [UInt8]) {
  guard let object = try? JSONObject(parsing: input) else { return }
  for name in object.names { precondition(object[name] != nil, "a member that is not there") }
  guard let again = try? JSONObject(parsing: object.bytes) else {
    preconditionFailure("it cannot be read again")
  }
  precondition(again.names == object.names, "other members the second time")
}

private func token(_ input: [UInt8]) {
  let text = String(decoding: input, as: UTF8.self)
  _ = try? UnverifiedIdentityToken(parsing: text, rules: rules)
  _ = try? UnverifiedFirebaseToken(parsing: text, rules: firebase)
  _ = try? UnverifiedNotification(parsing: text, rules: rules)
  _ = TokenPreview(of: input)
  if let token = try? CompactToken(parsing: input) { _ = try? token.claims() }
}

private func refreshToken(_ input: [UInt8]) {
  let text = String(decoding: input, as: UTF8.self)
  precondition((try? ring?.refreshToken(from: text)) == nil, "a token that nobody made")
  _ = ring?.challenge(from: text)
}

private let firebase = FirebaseTokenRules(project: "orchard", leeway: 60)

private func export(_ input: [UInt8]) {
  var elements = JSONElements(of: "users", elementLimit: 512)
  for piece in [input.prefix(input.count / 2), input.suffix(from: input.count / 2)] {
    guard let found = try? elements.take(piece) else { break }
    for element in found { precondition(element.bytes?.count ?? 0 <= 512, "longer than it may be") }
  }
  var records = CSVRecords(recordLimit: 512)
  _ = records.take(input)
  _ = try? records.end()
}

private func names(_ input: [UInt8]) {
  let text = String(decoding: input, as: UTF8.self)
  if let cleaned = cleanedText(text) {
    precondition(cleanedText(cleaned) == cleaned, "cleaning is not done at once")
    precondition(cleaned.utf8.count <= Limits.nameBytes, "longer than a name may be")
  }
  _ = EmailAddress(text)
  _ = Network(text)
  _ = secondsOfHTTPDate(text)
  if let id = SessionID(hex: text) { precondition(id.description == text, "two spellings of one id") }
}
