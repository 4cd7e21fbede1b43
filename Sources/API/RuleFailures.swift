internal import AppleIdentity
internal import Domain
internal import ProviderTokens
internal import Sessions
internal import Storage

// Refusals of the rules, each translated once into the failure that a client sees.

extension FailureReason {
  /// - Parameter outage: What it is when the issuer's keys are not to be had.
  init(_ refusal: IdentityTokenRefusal, withoutKeys outage: FailureReason = .appleKeysUnavailable) {
    self =
      switch refusal {
      case .tokenMalformed: .tokenMalformed
      case .tokenTooLarge: .tokenTooLarge
      case .headerNotAllowed: .headerNotAllowed
      case .algorithmNotAllowed: .algorithmNotAllowed
      case .keyUnknown: .keyUnknown
      case .keysUnavailable: outage
      case .signatureInvalid: .signatureInvalid
      case .issuerNotAllowed: .issuerNotAllowed
      case .audienceNotAllowed: .audienceNotAllowed
      case .claimInvalid: .claimInvalid
      case .tokenExpired: .tokenExpired
      case .tokenTooOld: .tokenTooOld
      case .tokenFromTheFuture: .tokenFromTheFuture
      }
  }

  init(_ refusal: NonceRefusal) {
    self =
      switch refusal {
      case .missing: .nonceMissing
      case .claimMissing: .nonceClaimMissing
      case .mismatch: .nonceMismatch
      case .isAlreadyHashed: .nonceIsAlreadyHashed
      case .claimNotHashed: .nonceClaimNotHashed
      case .claimIsHashed: .nonceClaimIsHashed
      case .doubleHashed: .nonceDoubleHashed
      case .wrongEncoding: .nonceWrongEncoding
      }
  }

  init(_ objection: SignInObjection) {
    self =
      switch objection {
      case .tokenTooOld: .tokenTooOld
      case .challengeRequired: .challengeRequired
      case .challengeExpired: .challengeExpired
      }
  }

  /// - Parameter end: Nil for a session that is not there any more.
  init(_ end: SessionEnd?) {
    self =
      switch end {
      case nil, .ended: .sessionEnded
      case .revoked, .reused: .sessionRevoked
      }
  }

  init(_ error: StorageError) {
    self =
      switch error {
      // What is damaged cannot be read: an outage, and for an operator to mend. INTERNAL is a bug of this program.
      case .unavailable, .corrupt: .storageUnavailable
      case .overloaded: .overloaded
      case .defect: .internal
      }
  }
}

extension Failure {
  init(refusing refusal: SessionRefusal) {
    self =
      switch refusal {
      case .refreshTokenMalformed: Failure(.invalidRefreshToken)
      case .refreshTokenUnknown: Failure(.refreshTokenUnknown)
      case .refreshTokenReused: Failure(.refreshTokenReused)
      case .sessionOver(let end): Failure(FailureReason(end))
      case .sessionIdle: Failure(.sessionIdle)
      case .sessionOverAge: Failure(.sessionOverAge)
      case .accountDisabled: Failure(.userDisabled)
      case .accountNotFound: Failure(.userNotFound)
      case .credentialAlreadyUsed: Failure(.credentialAlreadyUsed)
      case .objected(let objection): Failure(FailureReason(objection))
      case .unknownIdentity: Failure(.emailNotFound)
      case .identityAlreadyLinked: Failure(.federatedUserIDAlreadyLinked)
      case .accountHasOtherIdentity: Failure(.operationNotAllowed)
      case .emailHeld: Failure(.emailExists)
      case .bearer(.accountNotFound): Failure(.userNotFound)
      case .bearer(.accountDisabled): Failure(.userDisabled)
      case .bearer(.sessionOver(let end)): Failure(FailureReason(end), challenge: .invalidToken)
      case .bearer(.loginTooOld): Failure(.credentialTooOldLoginAgain)
      case .pendingTokenInvalid: Failure(.invalidPendingToken)
      case .storage(let error): Failure(FailureReason(error))
      case .signingKeyUnavailable: Failure(.signingKeyUnavailable)
      case .cannotSign: Failure(.internal)
      }
  }
}

extension Failure {
  init(refusing error: CustomClaimsError) {
    self =
      switch error {
      case .malformed: Failure(.invalidClaims)
      case .tooLarge: Failure(.claimsTooLarge)
      case .forbidden(let name): Failure(.forbiddenClaim, detail: name)
      }
  }

  init(refusing error: CustomTokenError) {
    self =
      switch error {
      case .invalid: Failure(.invalidCustomToken)
      case .otherAudience: Failure(.credentialMismatch)
      case .claims(let error): Failure(refusing: error)
      }
  }
}
