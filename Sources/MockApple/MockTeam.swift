package import Crypto
package import Domain

/// The developer team that the stand-in knows from the start. Its key is known to everybody who has this source, and so
/// good for nothing but the stand-in.
package struct MockTeam: Sendable {
  package static let id = "MOCKTEAM01"
  package static let keyID = KeyID(unchecked: "MOCKKEY001")

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

  /// The team with its key.
  package static func member() throws(CryptoError) -> Member {
    Member(
      team: id, keyID: keyID, key: try PrivateKey(pem: Secret(PackageResources.MockTeamKey_pem)).publicKey)
  }
}
