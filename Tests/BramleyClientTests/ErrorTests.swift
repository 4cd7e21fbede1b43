import BramleyClient
import Contract
import Foundation
import Testing

/// The names that apps know errors by.
@Suite struct ErrorTests {
  @Test func `every code of the contract has a case of its own name here, and no other has`() throws {
    let codes = try APIDocument.shared.get().words(of: "Code")
    #expect(codes.count > 40)
    #expect(RefusalWords.authCodes.keys.sorted() == codes.sorted())
    // Only a fault of the service's is one without a name.
    #expect(RefusalWords.authCodes.filter { $0.value == .internalError }.keys.sorted() == ["INTERNAL"])
    #expect(RefusalWords.endingSessions.isSubset(of: codes))
  }

  @Test(arguments: RefusalWords.authCodes.keys.sorted())
  func `a refusal comes out as its case, with name, sentence, reason and request`(_ word: String)
    async throws
  {
    let device = Device()
    let auth = device.app()
    let trick = ServiceDouble.Trick.answer(400, word, reason: "a_reason")
    device.service.play(trick, trick, trick)
    let (code, details) = await fault { _ = try await auth.signIn(with: credential()) }
    let expected = try #require(code)
    #expect(expected == RefusalWords.authCodes[word])
    #expect(details[AuthErrorUserInfoNameKey] as? String == expected.name)
    #expect(details[AuthErrors.userInfoNameKey] as? String == expected.name)
    #expect(details[AuthErrorUserInfoServiceCodeKey] as? String == word)
    #expect(details[AuthErrorUserInfoReasonKey] as? String == "a_reason")
    #expect(details[AuthErrorUserInfoRequestIDKey] as? String == "r1")
    #expect(details[NSLocalizedDescriptionKey] as? String == "A sentence.")
  }

  @Test(arguments: [
    (AuthErrorCode.missingOrInvalidNonce, 17094, "ERROR_MISSING_OR_INVALID_NONCE"),
    (.invalidCredential, 17004, "ERROR_INVALID_CREDENTIAL"), (.userDisabled, 17005, "ERROR_USER_DISABLED"),
    (.requiresRecentLogin, 17014, "ERROR_REQUIRES_RECENT_LOGIN"),
    (.networkError, 17020, "ERROR_NETWORK_ERROR"), (.userTokenExpired, 17021, "ERROR_USER_TOKEN_EXPIRED"),
    (.invalidAPIKey, 17023, "ERROR_INVALID_API_KEY"), (.userMismatch, 17024, "ERROR_USER_MISMATCH"),
    (.credentialAlreadyInUse, 17025, "ERROR_CREDENTIAL_ALREADY_IN_USE"),
    (.invalidContinueURI, 17031, "ERROR_INVALID_CONTINUE_URI"),
    (.tooManyRequests, 17010, "ERROR_TOO_MANY_REQUESTS"),
    (.emailAlreadyInUse, 17007, "ERROR_EMAIL_ALREADY_IN_USE"),
    (.internalError, 17999, "ERROR_INTERNAL_ERROR"),
  ])
  func `numbers and names are Firebase's`(_ code: AuthErrorCode, _ number: Int, _ name: String) {
    #expect(code.rawValue == number)
    #expect(code.name == name)
    #expect(AuthErrorCode.Code(rawValue: number) == code)
  }

  @Test func `a credential that belongs to another account comes along in the error`() async throws {
    let device = Device()
    let auth = device.app()
    let apple = credential()
    device.service.play(.answer(400, "FEDERATED_USER_ID_ALREADY_LINKED"))
    let (code, details) = await fault { _ = try await auth.signIn(with: apple) }
    #expect(code == .credentialAlreadyInUse)
    let updated = try #require(details[AuthErrorUserInfoUpdatedCredentialKey] as? AuthCredential)
    _ = try await auth.signIn(with: updated)
    #expect(auth.currentUser?.uid == "person1")
  }
}
