import Domain
import Foundation
import Outbound
import TestProcesses
import Testing

@Suite(.timeLimit(.minutes(2)))
struct TLSTests {
  @Test func `https to a server that speaks plain http fails in the handshake`() async throws {
    let server = try LoopbackServer { peer in
      peer.send(answer("400 Bad Request"))
      peer.waitForClose()
    }
    let error = try await error("https://127.0.0.1:\(server.port)/", authorityFile: nil)
    #expect(error == .tlsFailed)
  }

  @Test(.enabled(if: TLSServer.isAvailable))
  func `a certificate of a trusted authority for the right name is accepted`() async throws {
    let server = try await TLSServer()
    let fetcher = try CurlFetcher(version: "1", limit: 1, authorityFile: server.certificateFile)
    #expect(try await fetcher.fetch(.get("https://127.0.0.1:\(server.port)/")).status == 200)
  }

  @Test(.enabled(if: TLSServer.isAvailable))
  func `a certificate that nobody vouches for is refused`() async throws {
    let server = try await TLSServer()
    let error = try await error("https://127.0.0.1:\(server.port)/", authorityFile: nil)
    #expect(error == .tlsFailed)
  }

  @Test(.enabled(if: TLSServer.isAvailable))
  func `a trusted certificate for another name is refused`() async throws {
    let server = try await TLSServer()
    let error = try await error("https://localhost:\(server.port)/", authorityFile: server.certificateFile)
    #expect(error == .tlsFailed)
  }

  @Test(.enabled(if: TLSServer.isAvailable))
  func `TLS older than 1_2 is refused`() async throws {
    let server = try await TLSServer(["-tls1_1", "-cipher", "ALL:@SECLEVEL=0"])
    let error = try await error("https://127.0.0.1:\(server.port)/", authorityFile: server.certificateFile)
    #expect(error == .tlsFailed)
  }

  @Test func `an authority file that can't be read fails the handshake`() async throws {
    let server = try LoopbackServer(sayingOnce: answer())
    let error = try await error("https://127.0.0.1:\(server.port)/", authorityFile: "/nowhere.pem")
    #expect(error == .tlsFailed)
  }

  private func error(_ url: String, authorityFile: String?) async throws -> FetchError? {
    let fetcher = try CurlFetcher(version: "1", limit: 1, authorityFile: authorityFile)
    return await failure { () async throws(FetchError) in try await fetcher.fetch(.get(url)) }
  }
}

/// OpenSSL's test server with a self-signed certificate for 127.0.0.1, on a free port.
final class TLSServer {
  static let isAvailable = FileManager.default.isExecutableFile(atPath: program)
  private static let program = "/usr/bin/openssl"

  let certificateFile: String
  let port: Int
  private let process: ChildProcess
  private let folder: URL

  init(_ options: [String] = []) async throws {
    folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    certificateFile = folder.appending(path: "certificate.pem").path
    let keyFile = folder.appending(path: "key.pem").path
    let maker = try Self.start([
      "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=test",
      "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", keyFile, "-out", certificateFile,
    ])
    #expect(try await maker.ended() == .exit(0))
    process = try Self.start(
      ["s_server", "-accept", "127.0.0.1:0", "-www", "-cert", certificateFile, "-key", keyFile] + options)
    // "ACCEPT 127.0.0.1:34567" once it listens.
    let line = try await process.state.first { state in
      lines(state.output).first { $0.hasPrefix("ACCEPT") } ?? state.end.map { "\($0)" }
    }
    port = try #require(line.split(separator: ":").last.flatMap { Int($0) })
  }

  deinit {
    process.send(signal: SIGKILL)
    do {
      try FileManager.default.removeItem(at: folder)
    } catch {
      Issue.record(error)
    }
  }

  private static func start(_ arguments: [String]) throws -> ChildProcess {
    try ChildProcess(program, arguments, environment: [:], folder: "/")
  }
}
