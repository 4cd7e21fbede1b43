package import Crypto
package import Domain

/// The developer teams that the stand-in knows from the start. Their keys are known to everybody who has this source, and so
/// good for nothing but the stand-in.
package struct MockTeam: Sendable {
  package static let id = "MOCKTEAM01"
  package static let keyID = KeyID(unchecked: "MOCKKEY001")

  /// Another team that it knows, which an app may go to.
  package static let otherID = "MOCKTEAM02"
  package static let otherKeyID = KeyID(unchecked: "MOCKKEY002")

  /// The other team's private key as PEM text.
  package static var otherPEM: String {
    String(decoding: PackageResources.MockOtherTeamKey_pem, as: UTF8.self)
  }

  /// The private key as PEM text, as in a `.p8` file.
  package static var pem: String { String(decoding: PackageResources.MockTeamKey_pem, as: UTF8.self) }

  /// Who may prove itself with which key.
  package struct Member: Sendable {
    package let team: String
    package let keyID: KeyID
    package let key: PublicKey

    package init(team: String, keyID: KeyID, key: PublicKey) {
      self.team = team
      self.keyID = keyID
      self.key = key
    }
  }

  /// Both teams with their keys.
  package static func members() throws(CryptoError) -> [Member] {
    [
      Member(
        team: id, keyID: keyID, key: try PrivateKey(pem: Secret(PackageResources.MockTeamKey_pem)).publicKey),
      Member(
        team: otherID, keyID: otherKeyID,
        key: try PrivateKey(pem: Secret(PackageResources.MockOtherTeamKey_pem)).publicKey),
    ]
  }
}
