package import Crypto
package import Domain
internal import JOSE
internal import Wire

/// Why a developer's key cannot be used.
package enum TeamKeyFault: Error, Equatable, Sendable {
  /// A team or key id is not ten capital letters and digits, as Apple gives them out.
  case idMalformed
  /// Not the PEM text of one private key, or one that is encrypted.
  case keyUnreadable
  /// Apple's keys are of P-256 and sign by ES256.
  case notP256
  /// What it signs does not verify.
  case cannotSign
}

/// The private key with which a developer team proves itself to Apple: the `.p8` file, and the two ids beside it.
package struct TeamKey: Sendable {
  /// Ten characters, at Apple.
  package let team: String
  /// Ten characters, at Apple.
  package let keyID: KeyID
  private let key: PrivateKey

  /// Reads the key, and has it sign once.
  ///
  /// - Parameter pem: PKCS#8 PEM text; its line feeds may be written as `\n`, as in an environment.
  package init(team: String, keyID: String, pem: Secret<String>) throws(TeamKeyFault) {
    guard isTeamOrKeyID(team), isTeamOrKeyID(keyID), let id = KeyID(keyID) else { throw .idMalformed }
    let text = pem.reveal().replacing("\\n", with: "\n").replacing("\\r", with: "")
    let key: PrivateKey
    do {
      key = try PrivateKey(pem: Secret(Array(text.utf8)))
    } catch {
      throw error.isKeyOfOtherKind ? .notP256 : .keyUnreadable
    }
    guard key.algorithm == .es256 else { throw .notP256 }
    let probe = Array("probe".utf8)
    guard let signature = try? key.sign(probe), key.publicKey.isSignature(signature, for: probe) else {
      throw .cannotSign
    }
    self.team = team
    self.keyID = id
    self.key = key
  }

  /// The team, as what it got from Apple is kept under.
  package var teamID: TeamID { TeamID(unchecked: team) }

  /// Whether another one signs with the same key.
  package func isSameKey(as other: TeamKey) -> Bool {
    let probe = Array("probe".utf8)
    return (try? key.sign(probe)).map { other.key.publicKey.isSignature($0, for: probe) } ?? false
  }

  /// The client secret of one call: a JWT that says which team asks for which client (Apple, "Creating a client secret").
  ///
  /// It is made for each call and lives minutes: Apple refuses what lives longer than 15,777,000 s, and one that is kept
  /// stops working some day. `iat` lies a minute back, since Apple refuses one that is ahead of its clock.
  ///
  /// - Parameter client: `sub`, which has to be the `client_id` of the call.
  package func clientSecret(for client: ClientID, at now: UnixTime) throws(CryptoError) -> Secret<String> {
    var claims = JSONWriter(reserving: 256)
    claims.member("iss", team)
    claims.member("iat", (now - 60).seconds)
    claims.member("exp", (now + 300).seconds)
    claims.member("aud", "https://appleid.apple.com")
    claims.member("sub", client.text)
    return Secret(try signCompact(payload: claims.finish(), key: key, keyID: keyID, type: nil))
  }
}

private func isTeamOrKeyID(_ text: String) -> Bool {
  text.utf8.count == 10
    && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) }
}
