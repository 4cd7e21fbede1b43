package import Domain
internal import Wire

/// Why a `postBody` is not one that is accepted.
package enum PostBodyError: Error, Equatable, Sendable {
  /// One key twice: which counts is a matter of taste, and tastes differ.
  case duplicateMember
  /// No reading of the nonce is text.
  case nonceMalformed
  case nonceTooLong
  case codeTooLong
  /// A broken percent escape, bad UTF-8 or a control character in a value that has one spelling only.
  case malformed
}

/// What Firebase's SDKs put into `postBody`: nearly a form.
///
/// The SDK of iOS does not percent-encode it and writes the person's name as JSON at its end, that of Android joins
/// the values as they are, that of JavaScript encodes them and begins with `&`. Nothing in the text says which of
/// them wrote it, so a nonce ends only where a key that one of them writes begins. Keys and values are told apart
/// before anything is decoded, and each value is decoded once. Empty is absent.
package struct PostBody: Equatable, Sendable {
  /// In lower case.
  package let providerID: String?
  package let idToken: String?
  /// The texts that the raw nonce may stand for: as it came, percent-decoded, and so with `+` as a space.
  /// For nearly every nonce they are one.
  package let nonces: [String]
  /// What can be read of `user`, else nil: no sign-in fails for a name. An e-mail address beside it is not read.
  package let name: PersonName?
  package let code: String?
  /// What an SDK calls an access token: for Apple it may be the authorization code. Nil for what is too long for one.
  package let accessToken: String?

  /// Takes a `postBody` apart.
  package init(parsing text: String) throws(PostBodyError) {
    let values = try splitValues(Array(text.utf8))
    providerID = try values[.providerID].flatMap(onlyReading).map(lowercased)
    idToken = try values[.idToken].flatMap(onlyReading)
    code = try values[.code].flatMap(onlyReading)
    accessToken = try? values[.accessToken].flatMap(onlyReading).flatMap {
      $0.utf8.count <= Limits.codeBytes ? $0 : nil
    }
    guard (code?.utf8.count ?? 0) <= Limits.codeBytes else { throw .codeTooLong }
    nonces = try values[.nonce].map(nonceReadings) ?? []
    name = values[.user].flatMap(personName)
  }
}

/// Keys that an SDK writes; in a raw nonce only an `&` before one of these is a separator.
private enum Key: String, CaseIterable {
  case providerID = "providerId"
  case idToken = "id_token"
  case nonce
  case accessToken = "access_token"
  case tokenSecret = "oauth_token_secret"
  case identifier
  case code
  case user

  /// The key that the bytes begin with, its `=` included.
  init?(leading bytes: ArraySlice<UInt8>) {
    let match = Key.allCases.first {
      bytes.starts(with: $0.rawValue.utf8) && bytes.dropFirst($0.rawValue.utf8.count).first == equalsSign
    }
    guard let match else { return nil }
    self = match
  }

  /// Bytes of the key and its `=`.
  var leadingBytes: Int { rawValue.utf8.count + 1 }
}

/// Every value that is not empty, as it was written.
private func splitValues(_ bytes: [UInt8]) throws(PostBodyError) -> [Key: ArraySlice<UInt8>] {
  var values: [Key: ArraySlice<UInt8>] = [:]
  var rest = bytes[...]
  while !rest.isEmpty {
    if let key = Key(leading: rest) {
      rest = rest.dropFirst(key.leadingBytes)
      let value = rest.prefix(length(of: key, in: rest))
      guard values.updateValue(value, forKey: key) == nil else { throw .duplicateMember }
      rest = rest.dropFirst(value.count)
    }
    rest = rest.drop { $0 != ampersand }.dropFirst()
  }
  return values.filter { !$0.value.isEmpty }
}

/// How many bytes of `rest` are the value of `key`.
private func length(of key: Key, in rest: ArraySlice<UInt8>) -> Int {
  // Raw JSON stands last and may hold anything.
  if key == .user, rest.first == UInt8(ascii: "{") { return rest.count }
  // Of the others only a raw nonce can have an `&` in it.
  let end = rest.indices.first { index in
    rest[index] == ampersand && (key != .nonce || Key(leading: rest[(index + 1)...]) != nil)
  }
  return (end ?? rest.endIndex) - rest.startIndex
}

/// A value of an alphabet that no encoding touches: raw and decoded differ only if somebody encoded more than he
/// had to.
private func onlyReading(_ value: ArraySlice<UInt8>) throws(PostBodyError) -> String? {
  guard let text = decoded(value, plusIsSpace: false) else { throw .malformed }
  return text
}

/// Nothing tells a raw `%41` of one SDK from an encoded `A` of another, so each reading is offered; the claim in the
/// token decides. Only one preimage of its hash is known to anybody.
private func nonceReadings(_ value: ArraySlice<UInt8>) throws(PostBodyError) -> [String] {
  guard let raw = plainText(value) else { throw .nonceMalformed }
  var readings: [String] = []
  for reading in [raw, decoded(value, plusIsSpace: false), decoded(value, plusIsSpace: true)] {
    guard let reading, reading.utf8.count <= Limits.nonceBytes else { continue }
    // Compared as bytes: equal strings may be spelled in different ones.
    if !readings.contains(where: { $0.utf8.elementsEqual(reading.utf8) }) { readings.append(reading) }
  }
  guard !readings.isEmpty else { throw .nonceTooLong }
  return readings
}

/// `{"name":{"firstName":…,"lastName":…}}` as the SDK of iOS and Apple's own form write it.
private func personName(_ value: ArraySlice<UInt8>) -> PersonName? {
  let isRaw = value.first == UInt8(ascii: "{")
  return (isRaw ? Array(value) : decoded(value, plusIsSpace: true).map { Array($0.utf8) })
    .flatMap(PersonName.init(appleUser:))
}

extension PersonName {
  /// The name in the `user` of Apple's form; nil when there is none. A broken one costs the name and nothing else. The
  /// address in it is not read: nobody has signed it.
  init?(appleUser bytes: [UInt8]) {
    guard let fields = try? JSONObject(parsing: bytes).optionalObject("name"),
      let given = try? Optional(fields.optionalText("firstName")),
      let family = try? Optional(fields.optionalText("lastName"))
    else { return nil }
    self.init(givenName: given, familyName: family)
    if isEmpty { return nil }
  }
}

/// Decoded once, as strictly as a form is; nil when that does not give text.
private func decoded(_ value: ArraySlice<UInt8>, plusIsSpace: Bool) -> String? {
  var form = Array("value=".utf8)
  for byte in value {
    switch byte {
    case ampersand: form.append(contentsOf: "%26".utf8)
    case UInt8(ascii: "+") where !plusIsSpace: form.append(contentsOf: "%2B".utf8)
    default: form.append(byte)
    }
  }
  return (try? FormBody(parsing: form))?["value"]
}

/// The bytes as text without control characters.
private func plainText(_ bytes: ArraySlice<UInt8>) -> String? {
  guard !bytes.contains(where: { $0 < 0x20 || $0 == 0x7F }) else { return nil }
  return String(validating: bytes, as: UTF8.self)
}

private func lowercased(_ text: String) -> String {
  String(decoding: text.utf8.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 }, as: UTF8.self)
}

private let ampersand = UInt8(ascii: "&")
private let equalsSign = UInt8(ascii: "=")
