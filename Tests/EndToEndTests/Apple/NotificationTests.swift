import Foundation
import MockApple
import Testing
import Wire

/// What Apple tells of people: what is believed, and what comes of it.
@Suite(.timeLimit(.minutes(10)))
struct NotificationTests {
  @Test(arguments: NotificationOrder.Shape.allCases, NotificationOrder.Unit.allCases)
  func `V05 a consent that is taken back ends the sessions, whatever form tells of it`(
    _ shape: NotificationOrder.Shape, _ unit: NotificationOrder.Unit
  ) async throws {
    try await withOperator { service, administrator in
      let subject = Mint.subject()
      let session = try await service.signIn(subject: subject)
      let other = try await service.signIn(subject: Mint.subject())
      try await service.notify(of: subject) { order in
        order.shape = shape
        order.unit = unit
      }
      try expect(await service.tryRefresh(session.refreshToken), is: .session("session_revoked"))
      #expect(try await service.admits(session.idToken) == false)
      #expect(try await service.admits(other.idToken))
      let account = try await administrator.done("GET", "/users/\(session.localID)")
      #expect(account.text("credentialState") == "revoked")
      // The account stays, and a new sign-in is a new consent.
      let next = try await service.signIn(subject: subject)
      #expect(next.localID == session.localID)
      #expect(try await service.account(next.idToken).text("credentialState") == "authorized")
    }
  }
}
