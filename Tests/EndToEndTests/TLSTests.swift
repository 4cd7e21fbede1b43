import Foundation
import TestProcesses
import Testing

/// A certificate for 127.0.0.1 and its key, as the settings name them.
func tlsIdentity(_ stage: Stage, _ name: String = "tls") async throws -> [String: String] {
  let (certificate, key) = ("\(stage.folder)/\(name).crt", "\(stage.folder)/\(name).key")
  let made = try await run(
    "/usr/bin/openssl",
    [
      "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
      "-subj",
      "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate,
    ])
  try #require(made.status == 0, "\(made.errors)")
  return ["BRAMLEY_TLS_CERT": certificate, "BRAMLEY_TLS_KEY": key]
}

/// The listener that speaks TLS itself.
@Suite(.timeLimit(.minutes(10)))
struct TLSTests {
  private func curl(_ stage: Stage, _ service: Service, _ arguments: String...) async throws -> Finished {
    try await run(
      "/usr/bin/curl",
      ["-sS", "--max-time", "20", "--cacert", stage.folder + "/tls.crt"] + arguments
        + ["https://127.0.0.1:\(service.port)/.well-known/openid-configuration"])
  }

  @Test func `versions 1_2 and 1_3 are spoken, and the links say https`() async throws {
    try await withStage { stage in
      let service = try await stage.start(tlsIdentity(stage))
      for version in ["1.2", "1.3"] {
        let answer = try await curl(stage, service, "--tlsv\(version)", "--tls-max", version)
        #expect(answer.status == 0, "\(answer.errors)")
        #expect(try answer.json.text("issuer") == "https://127.0.0.1:\(service.port)")
        #expect(try answer.json.text("jwks_uri")?.hasPrefix("https://127.0.0.1:\(service.port)/") == true)
      }
      try await service.stop()
    }
  }

  @Test(arguments: [("-tls1_2", true), ("-tls1_1", false), ("-tls1", false)])
  func `older versions are refused, whatever the client allows`(_ version: String, _ isSpoken: Bool)
    async throws
  {
    try await withStage { stage in
      let service = try await stage.start(tlsIdentity(stage))
      let hello = try await run(
        "/usr/bin/openssl",
        [
          "s_client", "-connect", "127.0.0.1:\(service.port)", version, "-cipher", "DEFAULT:@SECLEVEL=0",
          "-CAfile", stage.folder + "/tls.crt",
        ])
      #expect((hello.status == 0) == isSpoken, "\(hello.output) \(hello.errors)")
      #expect(hello.output.contains("Cipher is (NONE)") == !isSpoken)
      try await service.stop()
    }
  }

  @Test func `plain HTTP gets no answer, and TLS clients go on`() async throws {
    try await withStage { stage in
      let service = try await stage.start(tlsIdentity(stage))
      let answer = await onThreadResult {
        try HTTPConnection(port: service.port, timeoutSeconds: 20).exchange(HTTPRequest(path: "/livez"))
      }
      #expect(throws: HTTPFault.self) { try answer.get() }
      let good = try await curl(stage, service)
      #expect(good.status == 0, "\(good.errors)")
    }
  }

  @Test(arguments: ["BRAMLEY_TLS_CERT", "BRAMLEY_TLS_KEY"])
  func `a certificate without a key, and a key without a certificate, are a wrong configuration`(
    _ name: String
  )
    async throws
  {
    try await withStage { stage in
      let file = try #require(try await tlsIdentity(stage)[name])
      for arguments in [["config", "check"], ["serve"]] {
        let finished = try await run(
          Program.bramley, arguments, environment: stage.settings.merging([name: file]) { $1 })
        #expect(finished.status == 78)
        #expect(finished.errors.contains(name) && finished.errors.contains("belong together"))
      }
    }
  }

  @Test func `what is no certificate, no key, or not a pair ends the start with a sentence`() async throws {
    try await withStage { stage in
      let (good, other) = (try await tlsIdentity(stage), try await tlsIdentity(stage, "other"))
      let garbage = try stage.write(
        "-----BEGIN CERTIFICATE-----\nno\n-----END CERTIFICATE-----\n", to: "garbage")
      for changes in [
        ["BRAMLEY_TLS_CERT": garbage], ["BRAMLEY_TLS_KEY": garbage],
        ["BRAMLEY_TLS_KEY": other["BRAMLEY_TLS_KEY"] ?? ""], ["BRAMLEY_TLS_CERT": "/nonexistent"],
      ] {
        let child = try stage.launch(good.merging(changes) { $1 })
        #expect(try await child.ended() == .exit(78))
        #expect(child.errorText.contains("BRAMLEY_TLS_CERT"), "\(child.errorText)")
        #expect(!child.errorText.contains("tlsIdentityUnusable"))
      }
    }
  }
}
