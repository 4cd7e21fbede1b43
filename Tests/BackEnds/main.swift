// A server around `account`, so that the tests have one to ask. It stands for the one that you have: Vapor, Hummingbird or
// another.
//
//   ISSUER=https://auth.example.com AUDIENCE=bramley PORT=3000 swift run back-end

import BramleyVerifier
import Foundation
import HTTPServer

let settings = ProcessInfo.processInfo.environment
let verifier = try SessionVerifier(issuer: settings["ISSUER"] ?? "", audience: settings["AUDIENCE"] ?? "")

func respond(to request: Request) async -> Response {
  do {
    let account = try await account(request.headers.first("Authorization") ?? "", verifier)
    return Response(status: 200, body: Array(#"{"account":"\#(account)"}"#.utf8))
  } catch {
    if error.isOutage { return Response(status: 503, body: Array(#"{"error":"no keys"}"#.utf8)) }
    return Response(
      status: 401, headers: ["WWW-Authenticate": "Bearer"], body: Array(#"{"error":"sign in"}"#.utf8))
  }
}

let listener = try HTTPListener(
  ListenerConfiguration(
    host: "127.0.0.1", port: UInt16(settings["PORT"] ?? "") ?? 3000, threads: 1, connectionLimit: 1000,
    bodyLimit: 1 << 16, bodyMemoryLimit: 1 << 24, connectionMemoryLimit: 1 << 15, idleSeconds: 30,
    headSeconds: 10,
    deadline: .seconds(10), maxRequestsInFlight: 100, tls: nil),
  refusal: { _, _ in Response(status: 400, closesConnection: true) }, respond: respond)
print("listening on \(listener.address)")
fflush(nil)
while true { try await Task.sleep(for: .seconds(3600)) }
