package import Domain
package import Storage
package import Wire

/// A user of a Firebase export, read as `accounts:batchCreate` reads one.
package struct ExportedUser: Sendable {
  package let account: Account
  /// Whether there was a password, which stays behind.
  package let hadPassword: Bool
  /// Whether there was a telephone number, which stays behind.
  package let hadPhoneNumber: Bool

  /// Whether the person can sign in with Apple here.
  package var hasAppleID: Bool { account.identity(at: appleProviderID) != nil }

  /// - Parameter now: When the user was made, where the export does not say it.
  fileprivate init(_ object: JSONObject, at now: UnixTime) throws(Failure) {
    let body = FirebaseBody(object)
    guard let id = try body.localID() else { throw Failure(.missingLocalID) }
    account = try newAccount(id, from: body, origin: .imported, at: now)
    hadPassword = try body.text("passwordHash") != nil
    hadPhoneNumber = try body.text("phoneNumber") != nil
  }
}

/// One place of an export: a user, or what is there instead.
package struct ExportLine: Sendable {
  /// Its number, from zero on.
  package let index: Int
  package let user: Result<ExportedUser, ExportRefusal>
  /// Whether it names an identity at Apple, also of a user who cannot be taken; nil where that cannot be read.
  package let hasAppleID: Bool?

  fileprivate init(_ index: Int, _ json: [UInt8]?, at now: UnixTime) {
    self.index = index
    guard let json, let object = try? JSONObject(parsing: json) else {
      (user, hasAppleID) = (.failure(ExportRefusal(nil, "unreadable")), nil)
      return
    }
    do throws(Failure) {
      let taken = try ExportedUser(object, at: now)
      (user, hasAppleID) = (.success(taken), taken.hasAppleID)
    } catch {
      hasAppleID = namesApple(object)
      let account = object.text("localId").flatMap(AccountID.init)
      user = .failure(ExportRefusal(account, error.reason.rawValue, field: error.field))
    }
  }

  fileprivate init(_ index: Int, _ refusal: ExportRefusal) {
    (self.index, user, hasAppleID) = (index, .failure(refusal), nil)
  }
}

/// Whether a user's record names an identity at Apple, whatever else is in it; nil where it does not say so.
private func namesApple(_ object: JSONObject) -> Bool? {
  switch object["providerUserInfo"] {
  case nil: return false
  case .array(let providers)?:
    return providers.contains { provider in
      if case .object(let members) = provider { members.text("providerId") == appleProviderID } else { false }
    }
  default: return nil
  }
}

/// Why a user of an export cannot be taken.
package struct ExportRefusal: Error, Sendable, Equatable {
  /// Nil where there is none that could be one.
  package let account: AccountID?
  /// One word, that of an error answer where there is one.
  package let reason: String
  /// Which part of the user it is about; nil where that is the whole.
  package let field: String?

  package init(_ account: AccountID?, _ reason: String, field: String? = nil) {
    self.account = account
    self.reason = reason
    self.field = field
  }
}

/// How an export is written.
package enum ExportFormat: Sendable {
  case json, csv
}

/// Reads what `firebase auth:export` writes, and the answers of `accounts:batchGet`, as the bytes come.
package struct ExportReader: Sendable {
  private enum Cutter: Sendable {
    case json(JSONElements)
    case csv(CSVRecords)
  }

  private var cutter: Cutter
  private let now: UnixTime
  private var count = 0

  /// - Parameter now: When a user was made of whom the export does not say it.
  package init(_ format: ExportFormat, now: UnixTime) {
    cutter =
      switch format {
      case .json: .json(JSONElements(of: "users", elementLimit: Limits.exportedUserBytes))
      case .csv: .csv(CSVRecords(recordLimit: Limits.exportedUserBytes))
      }
    self.now = now
  }

  /// Takes the next bytes.
  ///
  /// - Returns: What ends in them.
  package mutating func take(_ bytes: some Sequence<UInt8>) throws(StreamFault) -> [ExportLine] {
    switch cutter {
    case .json(var elements):
      let found = try elements.take(bytes)
      cutter = .json(elements)
      return found.map { line($0.bytes) }
    case .csv(var records):
      let found = records.take(bytes)
      cutter = .csv(records)
      return found.map { line(of: $0.fields) }
    }
  }

  /// Nothing comes any more.
  package mutating func end() throws(StreamFault) -> [ExportLine] {
    switch cutter {
    case .json(let elements):
      try elements.end()
      return []
    case .csv(var records):
      return try records.end().map { [line(of: $0.fields)] } ?? []
    }
  }

  private mutating func line(of fields: [String]?) -> ExportLine {
    guard let fields else { return line(nil) }
    guard let json = exportedJSON(of: fields) else {
      defer { count += 1 }
      return ExportLine(count, ExportRefusal(nil, "columns"))
    }
    return line(json)
  }

  private mutating func line(_ json: [UInt8]?) -> ExportLine {
    defer { count += 1 }
    return ExportLine(count, json, at: now)
  }
}

extension ExportRefusal {
  /// - Returns: Nil for what is no refusal.
  package init?(_ account: AccountID, _ outcome: AccountImportOutcome) {
    let reason: FailureReason
    switch outcome {
    case .imported, .present, .linked: return nil
    case .idTaken: reason = .duplicateLocalID
    case .identityTaken: reason = .duplicateRawID
    case .emailTaken: reason = .emailExists
    }
    self.init(account, reason.rawValue)
  }
}
