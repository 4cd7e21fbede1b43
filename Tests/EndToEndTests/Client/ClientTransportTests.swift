import BramleyClient
import Foundation
import TestProcesses
import Testing

/// What the kit does with those who answer in the service's place.
@Suite(.timeLimit(.minutes(10)))
struct ClientTransportTests {
  /// Somebody who gives the same answer to everything, and what was sent to them.
  private func impostor(_ answer: [UInt8]) throws -> (listener: LoopbackListener, seen: Watched<[Delivery]>) {
    let seen = Watched<[Delivery]>([])
    let listener = try LoopbackListener { connection in
      var received = Deliveries(connection)
      while let delivery = received.next() {
        seen.update { $0.append(delivery) }
        received.send(answer)
      }
    }
    return (listener, seen)
  }

  private func answer(_ head: String, _ body: [UInt8] = []) -> [UInt8] {
    Array("HTTP/1.1 \(head)\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body
  }

  @Test(arguments: ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"])
  func `a redirect takes no token anywhere, and signs nobody out`(_ status: String) async throws {
    let thief = try impostor(answer("200 OK", Array("{}".utf8)))
    let portal = try impostor(
      answer("\(status)\r\nLocation: http://127.0.0.1:\(thief.listener.port)/v1/token"))
    try await withService { service in
      let handset = Handset(service.baseURL)
      let uid = try await handset.app().signIn(with: .of(Mint.credential())).user.uid
      handset.pass(7200)
      let auth = try Handset("http://127.0.0.1:\(portal.listener.port)", store: handset.store).app()
      #expect(
        await fault { _ = try await auth.currentUser?.getIDToken(forcingRefresh: true) }.code == .networkError
      )
      #expect(auth.currentUser?.uid == uid)
      #expect(portal.seen.read(\.count) == 3)
      #expect(thief.seen.read(\.count) == 0)
    }
  }

  @Test func `an answer without an end is given up, and so is one that is no answer`() async throws {
    let flood = try impostor(answer("200 OK", [UInt8](repeating: 0x20, count: 3 << 20)))
    let noise = try impostor(Array("SSH-2.0-OpenSSH_9.2\r\n".utf8))
    for port in [flood.listener.port, noise.listener.port] {
      let auth = try Handset("http://127.0.0.1:\(port)").app()
      #expect(await fault { _ = try await auth.signIn(with: .of(Mint.credential())) }.code == .networkError)
    }
    #expect(flood.seen.read(\.count) >= 1)
  }
}
