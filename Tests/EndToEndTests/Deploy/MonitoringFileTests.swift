import Foundation
import Testing
import Wire

/// The rules for Prometheus and the dashboard for Grafana.
@Suite(.timeLimit(.minutes(10)), .enabled(if: DeployFiles.areCheckable))
struct MonitoringFileTests {
  private func promtool(_ arguments: String...) async throws -> Finished {
    try await run("/usr/bin/promtool", arguments, folder: DeployFiles.folder + "/prometheus")
  }

  @Test func `Prometheus takes the files`() async throws {
    for arguments in [["check", "config", "prometheus.yaml"], ["check", "rules", "rules.yaml"]] {
      let checked = try await run("/usr/bin/promtool", arguments, folder: DeployFiles.folder + "/prometheus")
      #expect(checked.status == 0, "\(checked.output)\(checked.errors)")
    }
  }

  @Test func `every alert comes when it should and not before`() async throws {
    let tested = try await promtool("test", "rules", "rules.test.yaml")
    #expect(tested.status == 0, "\(tested.output)\(tested.errors)")
    let rules = try #require(try await DeployFiles.documents("prometheus/rules.yaml").first)
    let cases = try #require(try await DeployFiles.documents("prometheus/rules.test.yaml").first)
    let alerts = rules.objects("groups").flatMap { $0.objects("rules") }.compactMap { $0.text("alert") }
    #expect(alerts.count > 20)
    for alert in alerts {
      let looks = cases.objects("tests").flatMap { $0.objects("alert_rule_test") }
        .filter { $0.text("alertname") == alert }
      #expect(looks.contains { $0["exp_alerts"] == nil }, "\(alert) is never quiet")
      #expect(looks.contains { !$0.objects("exp_alerts").isEmpty }, "\(alert) never comes")
    }
  }

  @Test func `every figure that rules and dashboard ask for is there`() async throws {
    let dashboard = try JSONObject(parsing: Array(DeployFiles.text("grafana/dashboard.json").utf8))
    let expressions = dashboard.objects("panels").flatMap { $0.objects("targets") }.compactMap {
      $0.text("expr")
    }
    #expect(expressions.count > 30)
    let rules = try DeployFiles.text("prometheus/rules.yaml") + DeployFiles.text("prometheus/rules.test.yaml")
    let all = expressions.joined(separator: "\n") + rules
    let asked = DeployFiles.words("bramley_", in: all).union(DeployFiles.words("process_", in: all))
    let webhook = [
      "BRAMLEY_WEBHOOK_URL": "http://127.0.0.1:9", "BRAMLEY_WEBHOOK_SECRET": "a-secret-of-some-length",
    ]
    try await withService(webhook) { service in
      // Something of everything, so that no family is without a sample.
      _ = try await service.refresh(service.signIn(Mint.credential()).refreshToken)
      let text = String(decoding: try await service.get("/metrics").body, as: UTF8.self)
      let samples = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
      let families = Set(samples.map { String($0.prefix { $0 != "{" && $0 != " " }) })
      for name in asked { #expect(families.contains(name), "\(name)") }
      // The values of labels that somebody has written down.
      for name in [
        "new_account", "returning", "repeated", "invalid_client", "unauthorized_client", "invalid_scope",
        "unsupported_grant_type", "invalid_request", "cannot_sign", "applied", "stale", "unknown_subject",
        "unknown_type", "duplicate", "active", "standby", "sign_in", "token",
      ] {
        #expect(rules.contains(name), "\(name)")
        #expect(text.contains("=\"\(name)\""), "\(name)")
      }
    }
  }

  @Test func `every panel of the dashboard has a place of its own and a source that can be chosen`() throws {
    let dashboard = try JSONObject(parsing: Array(DeployFiles.text("grafana/dashboard.json").utf8))
    let panels = dashboard.objects("panels")
    var taken: Set<[Int64]> = []
    var ids: Set<Int64> = []
    for panel in panels {
      let place = try #require(panel.object("gridPos"))
      let (x, y) = (try #require(place.integer("x")), try #require(place.integer("y")))
      let (w, h) = (try #require(place.integer("w")), try #require(place.integer("h")))
      #expect(x + w <= 24)
      for column in x..<x + w {
        for row in y..<y + h {
          #expect(taken.insert([column, row]).inserted, "\(panel.text("title") ?? "")")
        }
      }
      #expect(ids.insert(try #require(panel.integer("id"))).inserted)
      for target in panel.objects("targets") {
        #expect(target.object("datasource")?.text("uid") == "${datasource}")
      }
    }
  }
}
