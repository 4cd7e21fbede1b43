@_spi(_Unicode) internal import Swift

/// What a person wants to be called, as Apple hands it over once: unsigned, edited by hand, never trusted.
///
/// The parts are kept; joining them is only for display.
package struct PersonName: Sendable, Equatable {
  package let givenName: String?
  package let familyName: String?
  package let middleName: String?
  package let namePrefix: String?
  package let nameSuffix: String?
  package let nickname: String?

  /// Cleans every part; one with nothing visible becomes nil.
  package init(
    givenName: String? = nil, familyName: String? = nil, middleName: String? = nil, namePrefix: String? = nil,
    nameSuffix: String? = nil, nickname: String? = nil
  ) {
    self.givenName = givenName.flatMap(cleanedText)
    self.familyName = familyName.flatMap(cleanedText)
    self.middleName = middleName.flatMap(cleanedText)
    self.namePrefix = namePrefix.flatMap(cleanedText)
    self.nameSuffix = nameSuffix.flatMap(cleanedText)
    self.nickname = nickname.flatMap(cleanedText)
  }

  package var isEmpty: Bool {
    givenName == nil && familyName == nil && middleName == nil && namePrefix == nil && nameSuffix == nil
      && nickname == nil
  }

  /// Given and family name in the order of their script, else the nickname.
  package var displayName: String? {
    joined([givenName], [familyName]) ?? nickname
  }

  /// All parts in the order of their script.
  package var fullName: String? {
    joined([namePrefix, givenName, middleName], [familyName, nameSuffix]) ?? nickname
  }

  /// Names in Han, Kana or Hangul are written family name first and without a space.
  private func joined(_ first: [String?], _ last: [String?]) -> String? {
    let first = first.compactMap { $0 }
    let last = last.compactMap { $0 }
    guard !first.isEmpty || !last.isEmpty else { return nil }
    if (first + last).allSatisfy(isEastAsian) { return (last + first).joined() }
    return (first + last).joined(separator: " ")
  }
}

/// One part of a name, cleaned.
package func cleanedText(_ text: String) -> String? {
  cleanedText(text, characters: Limits.nameCharacters, bytes: Limits.nameBytes)
}

/// One line of text as a person may have typed it: NFC, without controls and bidirectional overrides, trimmed,
/// cut at a grapheme edge; nil when nothing in it can be seen. What is clean stays as it is, byte for byte: a
/// stored text is read back through here.
///
/// ZWJ and ZWNJ stay: emoji and Persian and Indic names need them.
package func cleanedText(_ text: String, characters: Int, bytes: Int) -> String? {
  // Most texts are clean already, and each is looked at again whenever its row is read.
  if isPlain(text), text.utf8.count <= min(characters, bytes) { return text }
  var wanted = String.UnicodeScalarView()
  for scalar in text.unicodeScalars where !isUnwanted(scalar) { wanted.append(scalar) }
  // Composed after the unwanted are gone: they may have stood between a letter and its accent.
  var composed = String.UnicodeScalarView()
  for scalar in String(wanted)._nfc { composed.append(scalar) }
  let line = trimmed(String(composed))
  guard let cut = prefix(of: line, characters: characters, bytes: bytes) else { return nil }
  // Once more: the cut may have left a space at the end.
  let kept = trimmed(cut)
  guard kept.unicodeScalars.contains(where: isVisible) else { return nil }
  // Templates over missing parts leave these words; no person's name is written so.
  return kept == "undefined" || kept == "null" ? nil : kept
}

/// Whether a text is printable ASCII with something else than spaces at both ends, and no template's word.
private func isPlain(_ text: String) -> Bool {
  guard let first = text.utf8.first, let last = text.utf8.last, first != 0x20, last != 0x20 else {
    return false
  }
  return text.utf8.allSatisfy { (0x20...0x7E).contains($0) } && text != "undefined" && text != "null"
}

private func trimmed(_ text: String) -> String {
  let isSpace: (Unicode.Scalar) -> Bool = { $0.properties.isWhitespace }
  let rest = text.unicodeScalars.drop(while: isSpace)
  let end = rest.lastIndex { !isSpace($0) }.map { rest.index(after: $0) } ?? rest.startIndex
  return String(String.UnicodeScalarView(rest[..<end]))
}

/// The longest beginning of whole grapheme clusters within both limits; nil when not even one fits.
package func prefix(of text: String, characters: Int, bytes: Int) -> String? {
  if text.utf8.count <= bytes && text.utf8.count <= characters { return text }
  var kept = ""
  var count = 0
  var size = 0
  for character in text {
    size += character.utf8.count
    count += 1
    if count > characters || size > bytes { break }
    kept.append(character)
  }
  return kept.isEmpty ? nil : kept
}

/// Whether a character controls something, or makes the text around it look like another one.
func isUnwanted(_ scalar: Unicode.Scalar) -> Bool {
  switch scalar.value {
  case 0x00...0x1F, 0x7F...0x9F: true
  case 0x2028, 0x2029, 0x202A...0x202E, 0x2066...0x2069, 0xFEFF: true
  default: false
  }
}

private func isVisible(_ scalar: Unicode.Scalar) -> Bool {
  !scalar.properties.isWhitespace && !scalar.properties.isDefaultIgnorableCodePoint
}

private func isEastAsian(_ text: String) -> Bool {
  text.unicodeScalars.allSatisfy { scalar in
    switch scalar.value {
    case 0x3005...0x3007, 0x3040...0x30FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xAC00...0xD7A3, 0xF900...0xFAFF,
      0x20000...0x323AF:
      true
    default: false
    }
  }
}
