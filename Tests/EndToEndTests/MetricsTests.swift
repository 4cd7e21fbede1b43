import TestProcesses
import Testing
import Wire

/// `/metrics`: what moves, and that nobody outside decides how much there is.
@Suite(.timeLimit(.minutes(10)))
struct MetricsTests {
  /// The samples by series.
  private func samples(_ service: Service) async throws -> [String: Double] {
    let answer = try await service.get("/metrics")
    try #require(answer.status == 200)
    let rows = String(decoding: answer.body, as: UTF8.self).split(separator: "\n").filter {
      !$0.hasPrefix("#")
    }
    return Dictionary(
      uniqueKeysWithValues: try rows.map { row in
        let space = try #require(row.lastIndex(of: " "))
        return (String(row[..<space]), try #require(Double(row[row.index(after: space)...])))
      })
  }

  @Test func `sign-ins and refreshes that are turned away before they are read count by their reasons`()
    async throws
  {
    try await withService(["BRAMLEY_API_KEYS": "the-key", "BRAMLEY_SERVICE_KEYS": "a-service-key"]) {
      service in
      _ = try await service.trySignIn(Mint.credential())
      _ = try await service.send(.post("/v1/token?key=other", json: "{}"))
      let large = String(repeating: "x", count: 200_000)
      _ = try await service.send(
        .post("/v1/signInWithIdp", json: large, headers: [("X-API-Key", "the-key")]))
      let counted = try await samples(service)
      #expect(counted[#"bramley_sign_ins_total{outcome="api_key_missing"}"#] == 1)
      #expect(counted[#"bramley_sign_ins_total{outcome="body_too_large"}"#] == 1)
      #expect(counted[#"bramley_refreshes_total{outcome="api_key_invalid"}"#] == 1)
    }
  }

  @Test func `counts move with what happens`() async throws {
    try await withService { service in
      let before = try await samples(service)
      let credential = try Mint.credential()
      let token = try await service.signIn(credential).refreshToken
      _ = try await service.refresh(token)
      _ = try await service.trySignIn(credential)
      _ = try await service.trySignIn(Mint.credential { $0.breaksSignature = true })
      _ = try await service.tryRefresh("garbage")
      _ = try await service.trySignIn(Mint.credential { $0.header = [member("kid", "AAAAAAAAAA")] })
      let after = try await samples(service)
      func moved(_ series: String) -> Double { (after[series] ?? 0) - (before[series] ?? 0) }
      #expect(moved(#"bramley_requests_total{route="sign_in",code="200"}"#) == 1)
      #expect(moved(#"bramley_requests_total{route="sign_in",code="400"}"#) == 3)
      #expect(moved(#"bramley_requests_total{route="token",code="200"}"#) == 1)
      #expect(moved(#"bramley_request_duration_seconds_count{route="sign_in"}"#) == 4)
      #expect(moved(#"bramley_sign_ins_total{outcome="new_account"}"#) == 1)
      #expect(moved(#"bramley_sign_ins_total{outcome="credential_already_used"}"#) == 1)
      #expect(moved(#"bramley_sign_ins_total{outcome="signature_invalid"}"#) == 1)
      #expect(moved(#"bramley_refreshes_total{outcome="refreshed"}"#) == 1)
      #expect(moved(#"bramley_refreshes_total{outcome="invalid_refresh_token"}"#) == 1)
      #expect(moved("bramley_apple_unknown_key_ids_total") == 1)
      #expect(moved("bramley_commit_duration_seconds_count") >= 2)
      #expect((after[#"bramley_apple_key_fetches_total{outcome="fetched"}"#] ?? 0) >= 1)
      #expect((after["bramley_apple_keys_age_seconds"] ?? -1) >= 0)
      #expect((after["bramley_signing_key_age_seconds"] ?? -1) >= 0)
      #expect((after["bramley_connections"] ?? 0) >= 1)
      #expect(after["bramley_requests_in_flight"] == 1)
      #expect(after["bramley_storage_queue_depth"] == 0)
      #expect((after["process_resident_memory_bytes"] ?? 0) > 1_000_000)
      #expect((after["process_open_fds"] ?? 0) > 3)
    }
  }

  @Test func `attack 40 requests decide neither how many series there are nor what they are called`()
    async throws
  {
    try await withService { service in
      _ = try await service.get("/nowhere")
      _ = try await service.send(HTTPRequest(method: "PATCH", path: "/nowhere"))
      _ = try await service.send(.post("/v1/nonces", json: "{}"))
      let before = Set(try await samples(service).keys)
      try await onThread {
        var random = SeededGenerator(seed: 4)
        let connection = try HTTPConnection(port: service.port)
        for _ in 0..<200 {
          let path = "/" + String(random.next(), radix: 36) + "/" + String(random.next(), radix: 36)
          let method =
            ["GET", "POST", "PATCH", "M\(random.next() % 100)"].randomElement(using: &random) ?? "GET"
          _ = try connection.exchange(HTTPRequest(method: method, path: path))
        }
      }
      _ = try await service.send(
        .post("/v1/nonces?secret=\(Mint.nonce().replacing(" ", with: "+"))", json: "{}"))
      let after = Set(try await samples(service).keys)
      // The first visit of /metrics is counted at the second.
      #expect(
        after.subtracting(before).allSatisfy { $0.contains(#"route="metrics""#) },
        "\(after.subtracting(before))")
    }
  }

  @Test func `a request is one line, with a trace only when it is one`() async throws {
    try await withService { service in
      let good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
      let traces = [
        good, good.uppercased(), String(good.dropLast()), good + "-more", "00-x-y-01",
        #"00-","level":"error"-01"#,
      ]
      for (number, trace) in traces.enumerated() {
        let answer = try await service.get(
          "/livez", headers: [("X-Request-Id", "line-\(number)"), ("traceparent", trace)])
        #expect(answer["X-Request-Id"] == "line-\(number)")
      }
      let made = try await service.get(
        "/livez", headers: [("X-Request-Id", String(repeating: "x", count: 129))])
      try await service.stop()
      let requests = try service.process.outputLines.map { try JSONObject(parsing: Array($0.utf8)) }
        .filter { $0.text("event") == "request" }
      #expect(requests.count == traces.count + 1)
      for number in traces.indices {
        let own = requests.filter { $0.text("requestId") == "line-\(number)" }
        #expect(own.count == 1)
        #expect(own.first?.text("traceparent") == (number == 0 ? good : nil), "\(traces[number])")
        #expect((own.first?.integer("microseconds") ?? -1) >= 0)
      }
      #expect(requests.last?.text("requestId") == made["X-Request-Id"])
    }
  }
}
