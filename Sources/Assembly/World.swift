internal import AppleIdentity
package import Domain
package import JOSE
package import Sessions
package import Settings
package import Storage
internal import Glibc
internal import Outbound
internal import ProviderTokens
internal import Telemetry

/// The version that `version`, the log and outgoing requests name.
package let bramleyVersion = "0.1.0"

extension WallClock {
  /// The system's time of day.
  package static var system: WallClock {
    WallClock {
      var time = timespec()
      unsafe clock_gettime(CLOCK_REALTIME, &time)
      return UnixTime(Int64(time.tv_sec))
    }
  }
}

extension SteadyClock {
  /// The system's clock that never goes back; it goes on while the machine sleeps.
  package static var system: SteadyClock {
    SteadyClock {
      var time = timespec()
      // CLOCK_MONOTONIC stands still in suspend (clock_gettime(2)): Apple's keys would not grow old meanwhile.
      unsafe clock_gettime(CLOCK_BOOTTIME, &time)
      return SteadyTime(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }
  }
}

/// The master keys of the settings, made on the first start for an empty database.
package func openMasterKeys(
  _ settings: Settings, for storage: any Storage, entropy: Entropy
) async throws(StartFault) -> MasterKeyRing {
  let isEmpty: Bool
  do {
    isEmpty = try await isUnused(storage)
  } catch {
    throw .storage(error)
  }
  return try masterKeyRing(of: settings, mayCreate: isEmpty, entropy: entropy)
}

/// Whether there is nothing in the database that needs a master key that was there before.
func isUnused(_ storage: any Storage) async throws(StorageError) -> Bool {
  let hasKeys = try await !storage.signingKeys().keys.isEmpty
  let hasAccounts = try await !storage.accounts(after: nil, limit: 1).accounts.isEmpty
  return !hasKeys && !hasAccounts
}

/// Apple's key set of this moment, for a command; the service keeps a directory.
package func fetchAppleKeys(from url: String) async throws(FetchFault) -> KeySet {
  let fetcher: CurlFetcher
  do {
    fetcher = try makeFetcher()
  } catch {
    throw FetchFault(cause: error.sentence)
  }
  let outcome = await fetchKeySet(from: url, .keySet, with: fetcher)
  await fetcher.stop()
  switch outcome {
  case .success(let keys): return keys
  case .failure(let fault): throw FetchFault(cause: fault.sentence)
  }
}

/// Why something could not be fetched, in words.
package struct FetchFault: Error, CustomStringConvertible {
  package let cause: String
  package var description: String { cause }
}

/// Outgoing HTTP as this program does it.
func makeFetcher() throws(StartFault) -> CurlFetcher {
  do {
    return try CurlFetcher(version: bramleyVersion, limit: 256, authorityFile: nil)
  } catch {
    throw .networkUnavailable
  }
}
