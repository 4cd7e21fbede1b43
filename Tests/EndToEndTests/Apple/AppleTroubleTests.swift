import Crypto
import Domain
import Foundation
import MockApple
import TestProcesses
import Testing
import Wire

/// Apple that is down, slow or does not know us, nodes that die, and many calls at once.
@Suite(.timeLimit(.minutes(10)))
struct AppleTroubleTests {
  @Test func `a call that hangs is given up, and is not known to have failed`() async throws {
    try await withAppleSide { apple, stage, service in
      try await apple.behave(tokens: "slow", milliseconds: 25_000)
      let (credential, code) = try Mint.credentialWithCode()
      try await service.signIn(with: code, credential)
      try await eventually("it is given up") {
        try await stage.sql("SELECT fault FROM apple_work WHERE is_sent = 1") == "timed_out"
      }
      try await apple.behave(tokens: "good")
      try await eventually("it was tried again") { try await stage.queued() == 0 }
      #expect(try await stage.audited("apple_work_given_up") == ["exchange code_ambiguous"])
    }
  }

  @Test(arguments: ["unavailable", "throttled", "page"])
  func `while Apple is not well sign-ins go on, and afterwards each code is exchanged once`(
    _ trouble: String
  ) async throws {
    try await withAppleSide { apple, stage, service in
      try await apple.behave(tokens: trouble)
      for _ in 0..<5 {
        let (credential, code) = try Mint.credentialWithCode()
        try await service.signIn(with: code, credential)
      }
      try await apple.waits("all were tried") { $0.total("exchange") >= 5 }
      #expect(try await stage.queued() == 5)
      let list = try await stage.command("apple", "queue", "list", "--json").json
      #expect(list.objects("queue").count == 5)
      #expect(list.object("counts")?.integer("exchange") == 5)
      try await eventually("it is measured") {
        let metrics = String(decoding: try await service.get("/metrics").body, as: UTF8.self)
        return metrics.contains(#"bramley_apple_queue_depth{kind="exchange"} 5"#)
          && !metrics.contains(#"bramley_apple_calls_total{outcome="answered"} 1"#)
      }
      try await apple.behave(tokens: "good")
      // By itself: the first try comes within ten seconds.
      try await eventually("the queue is empty") { try await stage.queued() == 0 }
      #expect(try await stage.grants() == 5)
      let calls = try await apple.calls()
      #expect(calls.count("exchange") == 5)
      #expect(calls.count("exchange", "code_used") == 0)
    }
  }

  @Test func `an exchange whose answer was lost is not blamed on the code`() async throws {
    try await withAppleSide { apple, stage, service in
      try await apple.behave(tokens: "lost")
      let (credential, code) = try Mint.credentialWithCode()
      try await service.signIn(with: code, credential)
      try await apple.waits("it was done") { $0.count("exchange") == 1 }
      try await apple.behave(tokens: "good")
      try await eventually("it was tried again") { try await stage.queued() == 0 }
      #expect(try await apple.calls().count("exchange", "code_used") == 1)
      #expect(try await stage.audited("apple_work_given_up") == ["exchange code_ambiguous"])
      #expect(try await stage.grants() == 0)
    }
  }

  @Test
  func `a kill between the call and its answer leaves a code that is tried again and not called refused`()
    async throws
  {
    try await withAppleSide { apple, stage, service in
      try await apple.behave(tokens: "slow", milliseconds: 20_000)
      let (credential, code) = try Mint.credentialWithCode()
      try await service.signIn(with: code, credential)
      try await apple.waits("it is under way") { $0.peak == 1 }
      try await service.kill()
      #expect(try await stage.sql("SELECT fault FROM apple_work WHERE is_sent = 1") == "sending")
      try await apple.behave(tokens: "good")
      let next = try await stage.start(Team.settings)
      try await eventually("it was tried again") { try await stage.queued() == 0 }
      #expect(try await stage.audited("apple_work_given_up") == ["exchange code_ambiguous"])
      #expect(try await apple.calls().count("exchange", "code_used") == 1)
      try await next.stop()
    }
  }

  @Test func `kills in the middle of many calls lose no code and blame none`() async throws {
    try await withAppleSide { apple, stage, service in
      try await apple.behave(tokens: "unavailable")
      let bodies = try (0..<60).map { _ in
        let (credential, code) = try Mint.credentialWithCode()
        return credential.body(["authorizationCode": #""\#(code)""#])
      }
      let answers = try await inParallel(60, port: service.port) { .signIn(bodies[$0]) }
      #expect(answers.allSatisfy { $0.status == 200 })
      try await service.kill()
      try await apple.behave(tokens: "slow", milliseconds: 40)
      for round in 1...3 {
        let next = try await stage.start(Team.settings)
        _ = try await stage.command("apple", "queue", "retry", "--all")
        try await apple.waits("some were exchanged") { $0.count("exchange") >= Int64(round * 8) }
        try await next.kill()
      }
      let last = try await stage.start(Team.settings)
      try await eventually("the queue is empty", within: .seconds(90)) { try await stage.queued() == 0 }
      let ambiguous = try await stage.audited("apple_work_given_up")
      #expect(ambiguous.allSatisfy { $0 == "exchange code_ambiguous" })
      #expect(try await stage.grants() + ambiguous.count == 60)
      let calls = try await apple.calls()
      #expect(calls.count("exchange") == 60)
      #expect(calls.count("exchange", "code_used") == Int64(ambiguous.count))
      try await last.stop()
    }
  }

  @Test func `a service stops in time while Apple keeps it waiting, and what it was at is tried again`()
    async throws
  {
    try await withAppleSide { apple, stage, service in
      let session = try await service.signIn(Mint.credential())
      try await apple.behave(tokens: "slow", milliseconds: 20_000)
      let (credential, code) = try Mint.credentialWithCode()
      try await service.signIn(with: code, credential)
      try await apple.waits("it is under way") { $0.peak == 1 }
      let begun = ContinuousClock.now
      try await service.stop()
      let duration = ContinuousClock.now - begun
      #expect(duration < .seconds(10))
      #expect(try await stage.sql("SELECT is_sent FROM apple_work") == "1")
      try await apple.behave(tokens: "good")
      let next = try await stage.start(Team.settings)
      try await eventually("it was tried again") { try await stage.queued() == 0 }
      #expect(try await stage.audited("apple_work_given_up") == ["exchange code_ambiguous"])
      #expect(try await next.credentialState(session.idToken) == "authorized")
      try await next.stop()
    }
  }

  @Test func `doctor proves the key, and its ids`() async throws {
    try await withStage { stage in
      let good = try await stage.command("doctor", settings: Team.settings)
      #expect(good.status == 0)
      #expect(good.output.contains("ok  Apple key: Apple knows it for \(Client.app)"))
      #expect(
        good.output.contains("ok  Apple key: key MOCKKEY001 of team MOCKTEAM01 is a P-256 key and signs"))
      for (name, other) in [("TEAM_ID", "OTHERTEAM1"), ("KEY_ID", "OTHERKEY01")] {
        let wrong = Team.settings.merging(["BRAMLEY_APPLE_" + name: other]) { $1 }
        let doctor = try await stage.command("doctor", settings: wrong)
        #expect(doctor.status == 1)
        #expect(doctor.output.contains("failed  Apple key: Apple does not know key"), "\(doctor.output)")
      }
      for name in ["TEAM_ID", "KEY_ID"] {
        let short = Team.settings.merging(["BRAMLEY_APPLE_" + name: "SHORT1"]) { $1 }
        let doctor = try await stage.command("doctor", settings: short)
        #expect(doctor.status == 78)
        #expect((doctor.output + doctor.errors).contains("ten capital letters and digits each"))
      }
      var rsa = Team.settings
      let der = try PrivateKey.generate(.rs256).pkcs8().reveal()
      rsa["BRAMLEY_APPLE_PRIVATE_KEY"] =
        "-----BEGIN PRIVATE KEY-----\n\(Data(der).base64EncodedString())\n-----END PRIVATE KEY-----"
      rsa["BRAMLEY_APPLE_OLD_KEY_ID"] = "KEY1234567"
      for command in [["serve"], ["doctor"], ["config", "check"]] {
        let finished = try await run(
          Program.bramley, command, environment: stage.settings.merging(rsa) { $1 }, folder: stage.folder)
        #expect(finished.status == 78)
        for name in [
          "PRIVATE_KEY must be a P-256 key", "OLD_TEAM_ID is missing", "OLD_PRIVATE_KEY is missing",
        ] {
          #expect((finished.errors + finished.output).contains("BRAMLEY_APPLE_" + name))
        }
      }
    }
  }

  @Test func `doctor tells of what was given up, at Apple and for the back end`() async throws {
    let receiver = try Receiver(.answer(500))
    try await withAppleSide(receiver.settings) { apple, stage, service in
      let (credential, code) = try Mint.credentialWithCode()
      let session = try await service.signIn(with: code, credential)
      try await eventually("the token is kept") { try await stage.grants() == 1 }
      let before = try await stage.command("doctor", settings: Team.settings)
      #expect(!before.output.contains("given up"))
      try await apple.behave(tokens: "unavailable")
      #expect(try await service.deleteAccount(session.idToken).status == 200)
      // As after ten days in which nobody was there.
      try await eventually("they are given up") {
        try await stage.sql("UPDATE apple_work SET created_at = 0, due_at = 0 WHERE fault = 'server_error'")
        try await stage.sql(
          "UPDATE webhook_events SET gives_up_at = 0, due_at = 0 WHERE fault = 'status_5xx' AND dead_at IS NULL"
        )
        let left = try await stage.sql(
          "SELECT (SELECT count(*) FROM apple_work) + (SELECT count(*) FROM webhook_events WHERE dead_at IS NULL)"
        )
        return left == "0"
      }
      let doctor = try await stage.command("doctor", settings: Team.settings)
      #expect(doctor.output.contains("warning  webhooks: 2 events were given up"), "\(doctor.output)")
      #expect(doctor.output.contains("warning  Apple queue: 1 revocations were given up"))
      #expect(doctor.status == 0)
    }
  }

  @Test func `a code that was never sent is exchanged when Apple is there again, and the service too`()
    async throws
  {
    try await withAppleSide { apple, stage, service in
      try await service.signIn(Mint.credential())
      try await apple.kill()
      let (credential, code) = try Mint.credentialWithCode()
      let session = try await service.signIn(with: code, credential)
      try await eventually("it was tried") {
        try await stage.sql("SELECT fault FROM apple_work WHERE is_sent = 0") == "could_not_connect"
      }
      try await service.kill()
      let again = try await MockAppleProgram.start(listen: "127.0.0.1:\(apple.port)")
      let next = try await stage.start(Team.settings)
      try await eventually("the token is kept") { try await stage.grants() == 1 }
      #expect(try await again.calls().count("exchange") == 1)
      #expect(try await next.credentialState(session.idToken) == "authorized")
      try await next.stop()
      try await again.kill()
    }
  }

  @Test func `two services on one file make each call once`() async throws {
    try await withAppleSide { apple, stage, service in
      let other = try await stage.start(Team.settings)
      let bodies = try (0..<40).map { _ in
        let (credential, code) = try Mint.credentialWithCode()
        return credential.body(["authorizationCode": #""\#(code)""#])
      }
      async let first = inParallel(20, port: service.port) { .signIn(bodies[$0]) }
      async let second = inParallel(20, port: other.port) { .signIn(bodies[20 + $0]) }
      for answer in try await first + second { #expect(answer.status == 200, "\(answer)") }
      try await eventually("all tokens are kept") { try await stage.grants() == 40 }
      let calls = try await apple.calls()
      #expect(calls.count("exchange") == 40)
      #expect(calls.total("exchange") == 40)
      #expect(try await stage.queued() == 0)
    }
  }

  @Test func `a thousand calls that wait are made a few at a time, in little memory`() async throws {
    try await withAppleSide { apple, stage, service in
      try await apple.behave(tokens: "unavailable")
      for batch in 0..<20 {
        let bodies = try (0..<50).map { _ in
          let (credential, code) = try Mint.credentialWithCode()
          return credential.body(["authorizationCode": #""\#(code)""#])
        }
        let answers = try await inParallel(50, port: service.port) { .signIn(bodies[$0]) }
        #expect(answers.allSatisfy { $0.status == 200 }, "batch \(batch)")
      }
      #expect(try await stage.queued() == 1000)
      let before = try await memory(of: service)
      try await apple.behave(tokens: "good")
      let retry = try await stage.command("apple", "queue", "retry", "--all", settings: Team.settings)
      #expect(retry.status == 0)
      try await eventually("the queue is empty", within: .seconds(120)) { try await stage.queued() == 0 }
      let calls = try await apple.calls()
      #expect(calls.count("exchange") == 1000)
      #expect(calls.count("exchange", "code_used") == 0)
      #expect(calls.peak <= 8)
      #expect(try await stage.grants() == 1000)
      let growth = try await memory(of: service) - before
      #expect(growth < 48_000_000)
    }
  }

  private func memory(of service: Service) async throws -> Double {
    let text = String(decoding: try await service.get("/metrics").body, as: UTF8.self)
    let line = try #require(
      text.split(separator: "\n").first { $0.hasPrefix("process_resident_memory_bytes ") })
    return try #require(line.split(separator: " ").last.flatMap { Double($0) })
  }

  @Test func `O08 a key that Apple does not know raises the alarm, and another one is taken over by SIGHUP`()
    async throws
  {
    let apple = try await MockAppleProgram.start()
    try await withStage(appleURL: apple.baseURL) { stage in
      let keyFile = try stage.write(try strangeKey(), to: "key.p8")
      var settings = Team.settings
      settings["BRAMLEY_APPLE_PRIVATE_KEY"] = nil
      settings["BRAMLEY_APPLE_PRIVATE_KEY_FILE"] = keyFile
      let service = try await stage.start(settings)
      let (credential, code) = try Mint.credentialWithCode()
      try await service.signIn(with: code, credential)
      let alarm = try await service.process.line { $0.contains("apple_misconfigured") }
      #expect(alarm.contains(#""level":"error""#))
      #expect(alarm.contains("invalid_client"))
      try await eventually("it waits") { try await stage.sql("SELECT fault FROM apple_work") != "sending" }
      #expect(try await stage.sql("SELECT fault FROM apple_work") == "misconfigured: invalid_client")
      let doctor = try await stage.command("doctor", settings: settings)
      #expect(doctor.status == 1)
      #expect(doctor.output.contains("failed  Apple queue: 1 exchange wait, and Apple does not know us"))
      try Data(MockTeam.pem.utf8).write(to: URL(fileURLWithPath: keyFile))
      service.process.send(signal: SIGHUP)
      try await eventually("the token is kept") { try await stage.grants() == 1 }
      #expect(try await apple.calls().count("exchange") == 1)
      #expect(try await stage.command("doctor", settings: settings).output.contains("ok  Apple queue"))
    }
    try await apple.kill()
  }

  private func strangeKey() throws -> String {
    let der = try PrivateKey.generate(.es256).pkcs8().reveal()
    return "-----BEGIN PRIVATE KEY-----\n\(Data(der).base64EncodedString())\n-----END PRIVATE KEY-----\n"
  }
}
