import BramleyClient
import Contract
import Foundation
import Testing

/// The names that apps know errors by.
@Suite(.timeLimit(.minutes(5))) struct ErrorTests {
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

  @Test func `numbers and names are Firebase's, and there is no other but two of our own`() {
    let own = AuthErrorCode.allCases.filter { $0.rawValue >= 19000 }
    #expect(own == [.requestNotUnderstood, .signInSuperseded])
    let names = AuthErrorCode.allCases.filter { $0.rawValue < 19000 }.map { ($0.rawValue, $0.name) }
    #expect(Dictionary(names) { $1 } == firebaseErrors)
    #expect(names.count == firebaseErrors.count)
    #expect(AuthErrorCode.Code(rawValue: 17094) == .missingOrInvalidNonce)
    #expect(AuthErrorCode.webSignInUserInteractionFailure.rawValue == 17063)
    #expect(AuthErrorCode.networkError.name == "ERROR_NETWORK_REQUEST_FAILED")
    #expect(AuthErrorCode(rawValue: 4) == nil)
  }

  @Test func `an error is read in every way that code for Firebase has`() async throws {
    let device = Device()
    let auth = device.app()
    func error(_ word: String) async -> any Error {
      device.service.play(.answer(400, word, reason: "a_reason"))
      do {
        _ = try await auth.signIn(with: credential())
        return CancellationError()
      } catch { return error }
    }
    let disabled = await error("USER_DISABLED")
    do {
      throw disabled
    } catch AuthErrorCode.userNotFound {
      Issue.record("another case")
    } catch AuthErrorCode.userDisabled {
    } catch {
      Issue.record("\(error)")
    }
    let cast = try #require(disabled as? AuthErrorCode)
    #expect(cast.code == .userDisabled && cast == .userDisabled)
    #expect(cast.userInfo[AuthErrorUserInfoReasonKey] as? String == "a_reason")
    #expect(disabled.localizedDescription == "A sentence.")
    let bridged = disabled as NSError
    #expect((bridged.domain, bridged.code) == (AuthErrorDomain, 17005))
    #expect(bridged.localizedDescription == "A sentence.")
    #expect(bridged.userInfo[AuthErrorUserInfoReasonKey] as? String == "a_reason")
    let back = AuthErrorCode(_nsError: bridged)
    #expect(back.code == .userDisabled)
    #expect(back.userInfo[AuthErrorUserInfoReasonKey] as? String == "a_reason")
    // One that came by another way, as through Objective-C.
    do {
      throw NSError(domain: AuthErrorDomain, code: 17005)
    } catch AuthErrorCode.userDisabled {
    } catch {
      Issue.record("\(error)")
    }
    switch AuthErrorCode(rawValue: bridged.code) {
    case .wrongPassword, .weakPassword: Issue.record("another case")
    case .userDisabled: break
    default: Issue.record("another case")
    }
    #expect(AuthErrorCode(_nsError: NSError(domain: "x", code: 17005)).code == .internalError)
  }

  @Test func `an app makes an error of its own as it does with Firebase`() {
    let plain = AuthErrorCode(.networkError)
    #expect(plain == .networkError && plain.localizedDescription == "ERROR_NETWORK_REQUEST_FAILED")
    let told = AuthErrorCode(.userDisabled, userInfo: [NSLocalizedDescriptionKey: "Ask us."])
    #expect(told.code == .userDisabled && told.localizedDescription == "Ask us.")
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
