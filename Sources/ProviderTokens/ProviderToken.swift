package import Crypto
package import Domain
package import Wire
internal import JOSE

/// A token that was taken apart and says that it is signed as every provider here signs, and with which key. Nothing in
/// it may be believed yet.
package struct ProviderToken: Sendable {
  /// Which key is said to have signed it.
  package let keyID: KeyID
  private let token: CompactToken

  /// - Parameter limit: Bytes that it may have.
  package init(parsing text: String, atMost limit: Int) throws(IdentityTokenRefusal) {
    do {
      token = try CompactToken(parsing: text.utf8, atMost: limit)
    } catch {
      throw IdentityTokenRefusal(error)
    }
    // The one algorithm that Apple and Google sign with; RFC 8725 §3.1.
    guard token.header.algorithm == SignatureAlgorithm.rs256.rawValue else { throw .algorithmNotAllowed }
    guard let keyID = token.header.keyID else { throw .headerNotAllowed }
    self.keyID = keyID
  }

  /// The payload as it was signed, JSON.
  package var payload: [UInt8] { token.payload }

  /// The payload as an object.
  package func claims() throws(IdentityTokenRefusal) -> JSONObject {
    do {
      return try token.claims()
    } catch {
      throw .tokenMalformed
    }
  }

  /// Checks the signature, which has to be of the one algorithm.
  package func verify(by key: PublicKey) throws(IdentityTokenRefusal) {
    guard key.algorithm == .rs256 else { throw .algorithmNotAllowed }
    do {
      try token.verify(with: key)
    } catch {
      throw IdentityTokenRefusal(error)
    }
  }
}

extension IdentityTokenRefusal {
  fileprivate init(_ error: JOSEError) {
    self =
      switch error {
      case .tooLarge: .tokenTooLarge
      case .malformed: .tokenMalformed
      case .headerNotAllowed: .headerNotAllowed
      case .algorithmNotAllowed: .algorithmNotAllowed
      case .signatureInvalid: .signatureInvalid
      }
  }
}

extension JSONObject {
  /// A claim that is text; nil when it is absent, null or empty.
  package func textClaim(_ name: String) throws(IdentityTokenRefusal) -> String? {
    do {
      return try optionalText(name)
    } catch {
      throw .claimInvalid
    }
  }

  /// A time in whole seconds, from 1 to far beyond any token's life but far from the end of the integers
  /// (RFC 7519 §4.1.4).
  package func timeClaim(_ name: String) throws(IdentityTokenRefusal) -> UnixTime {
    do {
      guard let seconds = try optionalInteger(name), (1..<(1 << 40)).contains(seconds) else {
        throw IdentityTokenRefusal.claimInvalid
      }
      return UnixTime(seconds)
    } catch {
      throw .claimInvalid
    }
  }
}
