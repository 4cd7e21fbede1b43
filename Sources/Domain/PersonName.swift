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

/// One line of text as a person may have typed it: NFC, without controls and bidirectional overrides, trimmed,
/// cut at a grapheme edge; nil when nothing in it can be seen.
///
/// ZWJ and ZWNJ stay: emoji and Persian and Indic names need them.
package func cleanedText(_ text: String) -> String? {
  // Unwanted scalars go before normalisation: what they kept apart may belong together.
  var wanted = String.UnicodeScalarView()
  wanted.append(contentsOf: text.unicodeScalars.lazy.filter { !isUnwanted($0) })
  var composed = String.UnicodeScalarView()
  for scalar in String(wanted)._nfc { composed.append(scalar) }
  let start = String(String.UnicodeScalarView(composed.drop { $0.properties.isWhitespace }))
  guard let cut = prefix(of: start, characters: Limits.nameCharacters, bytes: Limits.nameBytes) else { return nil }
  // The end is trimmed after the cut, which may have laid a space bare.
  let end = cut.unicodeScalars.reversed().drop { $0.properties.isWhitespace }.reversed()
  let kept = String(String.UnicodeScalarView(end))
  // Templates over missing parts leave these words; no person's name is written so.
  guard kept != "undefined", kept != "null", kept.unicodeScalars.contains(where: isVisible) else { return nil }
  return kept
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

private func isUnwanted(_ scalar: Unicode.Scalar) -> Bool {
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
