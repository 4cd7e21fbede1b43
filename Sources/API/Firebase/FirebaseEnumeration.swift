/// An enumeration of Firebase's API: each case has a word and a number, and clients send either.
package protocol FirebaseEnumeration: RawRepresentable<String>, CaseIterable, Sendable {
  /// The case's number in the protocol buffer behind the API.
  var number: Int64 { get }
}

/// What `accounts:update` can take from an account (`deleteAttribute`).
package enum DeletableAttribute: String, FirebaseEnumeration {
  case email = "EMAIL"
  case displayName = "DISPLAY_NAME"
  case provider = "PROVIDER"
  case photoURL = "PHOTO_URL"
  case password = "PASSWORD"

  package var number: Int64 {
    switch self {
    case .email: 1
    case .displayName: 2
    case .provider: 3
    case .photoURL: 4
    case .password: 5
    }
  }
}

/// What `accounts:revokeToken` is given (`tokenType`).
package enum RevocableTokenType: String, FirebaseEnumeration {
  case refreshToken = "REFRESH_TOKEN"
  case accessToken = "ACCESS_TOKEN"
  case code = "CODE"

  package var number: Int64 {
    switch self {
    case .refreshToken: 1
    case .accessToken: 2
    case .code: 3
    }
  }
}
