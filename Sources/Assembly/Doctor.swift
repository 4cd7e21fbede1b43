internal import AppleIdentity
internal import Crypto
internal import Domain
internal import JOSE
internal import Outbound
internal import SQLiteStorage
internal import Sessions
package import Settings
internal import Storage
internal import Wire

/// One thing that was looked at.
package struct Finding: Sendable, Equatable {
  /// How bad it is.
  package enum Verdict: String, Sendable {
    case ok, warning, failed
  }

  package let subject: String
  package let verdict: Verdict
  package let detail: String
}

/// Looks at everything that a service with these settings needs: what they say, the database, the keys, Apple's
/// endpoint and the clock. Changes nothing, and makes no key.
package func examine(_ settings: Settings) async -> [Finding] {
  var findings = settings.warnings.map { Finding(subject: "settings", verdict: .warning, detail: $0) }
  if findings.isEmpty {
    findings.append(Finding(subject: "settings", verdict: .ok, detail: "nothing doubtful"))
  }
  findings += await examineDatabase(settings)
  findings += await examineApple(settings)
  return findings
}

private func examineDatabase(_ settings: Settings) async -> [Finding] {
  guard isFile(settings.databasePath) else {
    return [
      Finding(
        subject: "database", verdict: .warning,
        detail: "there is none at \(settings.databasePath) yet: the first start makes it")
    ]
  }
  do {
    let storage = try openDatabase(settings)
    let findings = await examine(storage, settings)
    await storage.stop()
    return findings
  } catch {
    return [Finding(subject: "database", verdict: .failed, detail: error.sentence)]
  }
}

private func examine(_ storage: SQLiteStorage, _ settings: Settings) async -> [Finding] {
  var findings: [Finding] = []
  do {
    try await storage.probe()
    findings.append(Finding(subject: "database", verdict: .ok, detail: "takes writes"))
  } catch {
    return [Finding(subject: "database", verdict: .failed, detail: "does not take writes: \(error)")]
  }
  do {
    let ring = try masterKeyRing(
      set: settings.masterKeys, databasePath: settings.databasePath, mayCreate: false, entropy: .system)
    let book = try? await storage.signingKeys()
    findings.append(examine(book, with: ring))
    let counts = (try? await storage.sessionCounts()) ?? [:]
    for (id, count) in counts where ring[id] == nil {
      findings.append(
        Finding(
          subject: "master key", verdict: .failed,
          detail:
            "\(count) live sessions were made with master key \(id), which is not set: they will be lost"))
    }
  } catch {
    findings.append(Finding(subject: "master key", verdict: .failed, detail: error.sentence))
  }
  return findings
}

private func examine(_ book: SigningKeyBook?, with ring: MasterKeyRing) -> Finding {
  guard let book else { return Finding(subject: "signing keys", verdict: .failed, detail: "cannot be read") }
  do {
    let keys = try SigningKeys(opening: book, with: ring)
    let hasStandby = keys.published.contains { $0.role == .standby }
    return Finding(
      subject: "signing keys", verdict: hasStandby ? .ok : .warning,
      detail: hasStandby ? "\(keys.published.count) published, one of them ready to follow" : "no standby key"
    )
  } catch {
    return Finding(
      subject: "signing keys", verdict: .failed, detail: StartFault.signingKeys(error).sentence)
  }
}

private func examineApple(_ settings: Settings) async -> [Finding] {
  let fetcher: any HTTPFetching
  let stop: () async -> Void
  do {
    let curl = try makeFetcher()
    fetcher = curl
    stop = { await curl.stop() }
  } catch {
    return [Finding(subject: "Apple", verdict: .failed, detail: error.sentence)]
  }
  let url = settings.appleBaseURL + "/auth/keys"
  let findings: [Finding]
  do {
    let response = try await fetcher.fetch(keySetRequest(url))
    findings = [examine(response, from: url), examineClock(response.date, settings)]
  } catch {
    findings = [Finding(subject: "Apple", verdict: .failed, detail: "\(url) cannot be reached: \(error)")]
  }
  await stop()
  return findings
}

private func examine(_ response: FetchResponse, from url: String) -> Finding {
  switch keySet(in: response) {
  case .success(let keys):
    Finding(subject: "Apple", verdict: .ok, detail: "\(url) publishes \(keys.count) keys")
  case .failure(let fault):
    Finding(subject: "Apple", verdict: .failed, detail: "\(url) answers no key set: \(fault)")
  }
}

/// Compares the clock with the one of whoever answered for Apple.
private func examineClock(_ date: String?, _ settings: Settings) -> Finding {
  guard let seconds = date.flatMap(secondsOfHTTPDate) else {
    return Finding(subject: "clock", verdict: .warning, detail: "nothing to compare it with")
  }
  let difference = WallClock.system.now().since(UnixTime(seconds))
  let detail = "\(abs(difference)) s \(difference < 0 ? "behind" : "ahead of") Apple's"
  if abs(difference) <= 2 { return Finding(subject: "clock", verdict: .ok, detail: detail) }
  return Finding(
    subject: "clock", verdict: abs(difference) <= settings.clockLeeway ? .warning : .failed, detail: detail)
}
