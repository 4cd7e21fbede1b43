package import Domain
internal import Wire

/// Who a person is at the team that an app went to.
package struct TransferredPerson: Sendable, Equatable {
  package let subject: Subject
  /// Nil when Apple names none.
  package let email: EmailAddress?
  /// True only where Apple said so.
  package let isPrivateEmail: Bool

  package init(subject: Subject, email: EmailAddress?, isPrivateEmail: Bool) {
    self.subject = subject
    self.email = email
    self.isPrivateEmail = isPrivateEmail
  }
}

/// How often in a row Apple did not know us. Under load it says so now and then; what an operator has to mend, it says of
/// every call.
package struct StrangerStreak: Sendable {
  private var length = 0
  private static let limit = 4

  package init() {}

  /// - Returns: Whether it was too often.
  package mutating func note(_ fault: AppleFault) -> Bool {
    switch fault {
    case .misconfigured, .grantRefused: length += 1
    case .throttled, .transient: length = 0
    }
    return length >= Self.limit
  }
}

// How the people of an app go with it to another team (TN3159).
extension AppleEndpoints {
  /// The access token that the two calls below take; it lives an hour.
  package func migrationToken(
    for client: ClientID, by key: TeamKey
  ) async throws(AppleFault) -> Secret<String> {
    let fields = [("grant_type", "client_credentials"), ("scope", "user.migration")]
    let answer = try TokenAnswer(try await post("/auth/token", fields, for: client, by: key))
    guard let token = answer.accessToken else { throw .transient(.unexpected) }
    return token
  }

  /// The transfer subject of a person of the team whose key this is: the same each time, for one recipient.
  ///
  /// - Parameter target: The team that the app goes to. Apple takes any, the sender itself as well, and then gives out
  ///   what nobody can use.
  package func transferSubject(
    of subject: Subject, to target: TeamID, with token: Secret<String>, for client: ClientID, by key: TeamKey
  ) async throws(AppleFault) -> Subject {
    let fields = [("sub", subject.text), ("target", target.text)]
    let object = try await migrationInfo(fields, with: token, for: client, by: key)
    guard let subject = object.text("transfer_sub").flatMap(Subject.init) else {
      throw .transient(.unexpected)
    }
    return subject
  }

  /// Who the person of a transfer subject is at the team whose key this is.
  package func person(
    transferredAs subject: Subject, with token: Secret<String>, for client: ClientID, by key: TeamKey
  ) async throws(AppleFault) -> TransferredPerson {
    let object = try await migrationInfo([("transfer_sub", subject.text)], with: token, for: client, by: key)
    guard let subject = object.text("sub").flatMap(Subject.init) else { throw .transient(.unexpected) }
    let email = object.text("email").flatMap(EmailAddress.init)
    return TransferredPerson(
      subject: subject, email: email, isPrivateEmail: email != nil && isTrue(object["is_private_email"]))
  }

  private func migrationInfo(
    _ fields: [(name: String, value: String)], with token: Secret<String>, for client: ClientID,
    by key: TeamKey
  ) async throws(AppleFault) -> JSONObject {
    let response = try await post("/auth/usermigrationinfo", fields, bearer: token, for: client, by: key)
    let object = try jsonObject(of: response)
    guard response.status == 200 else { throw AppleFault(errorOf: object) }
    return object
  }
}
