internal import Bench

/// The workloads, by the names that the command line has for them.
enum WorkloadName: String, CaseIterable {
  case signin, refresh, verify, introspect, jwks, mix, replay, race, firebase

  var summary: String {
    switch self {
    case .signin: "sign in, each time with an Apple token of its own"
    case .refresh: "follow chains of refresh tokens"
    case .verify: "ask for session tokens as a proxy does (forward-auth)"
    case .introspect: "ask for session tokens as a back end does (RFC 7662)"
    case .jwks: "fetch the key set"
    case .mix: "several of these at once, by the weights in a file"
    case .replay: "send one Apple token again and again: it must open exactly one session"
    case .race: "send the same Apple token over all connections at one moment, round after round"
    case .firebase: "what Firebase's SDK for iOS sends: verifyAssertion, getAccountInfo, token"
    }
  }

  /// What a request of it cannot do without.
  func floor(isFresh: Bool) -> FloorKind? {
    switch self {
    case .signin: .signIn
    case .refresh: .refresh
    case .verify: isFresh ? .verifyFresh : .verify
    case .introspect: .introspect
    case .jwks: .keySet
    case .mix, .replay, .race, .firebase: nil
    }
  }

  var hasBody: Bool { self != .verify && self != .jwks }
}

/// What `--help` says of a workload.
func loadHelp(_ name: WorkloadName) -> String {
  let word = name == .mix ? " FILE" : ""
  let special: String =
    switch name {
    case .verify:
      """

        --fresh                every token once only, so that its signature has to be verified
      """
    case .introspect:
      """

        --service-key KEY      a service key of the server's, unless it is spawned
      """
    case .mix:
      """


      FILE has lines such as `signin 1`, `refresh 5`, `verify 20`, `introspect 2`, `jwks 1`, `firebase 1`.
      """
    default: ""
    }
  return """
    usage: bramley-bench \(name.rawValue)\(word) (--spawn PROGRAM | --url URL) [OPTIONS]

    the server
      --spawn PROGRAM        start this `bramley` for the run: SQLite in a folder of its own, no limits of rate
      --env NAME=VALUE       more of the spawned server's environment; may be given several times
      --data FOLDER          where the spawned server's folder is made (\(temporaryFolder))
      --accounts N           fill the spawned server's database with N accounts before
      --log FILE             keep the spawned server's log
      --url URL              a server that runs: http://HOST:PORT
      --server-pid PID       its process, whose CPU time and memory are measured
      --apple-listen ADDRESS serve the stand-in's keys at HOST:PORT, for the server's BRAMLEY_APPLE_BASE_URL
      --audience ID          a client id of that server's, for which Apple's tokens are (com.example.bench)
      --allow-remote         let the load go to another machine

    the load: a closed loop of 32 connections, or
      --rate N/s             open loop: this many requests a second, each timed from when it was due
      --ramp FROM..TO        open loop: from one rate to the other over the duration
      --find-max --p99 20ms  look for the highest rate at which p99 stays below
      --closed N             closed loop: N connections back to back, which hides what a stall delays
      --connections N        connections that are kept open
      --threads N            of this program
      --duration 10s         of what is recorded, in a search 3s of each step; --count N bounds the requests instead
      --warm-up 2s           before that

    the tokens
      --tokens FILE          where minted Apple tokens are kept for the next run
      --persons N            of how many persons they are (10000)
      --mint N               how many a closed loop may use up (40000)
      --sessions N           how many sessions are opened before, where the workload needs any (1000)\(special)

    the report
      --json FILE, --csv FILE, --html FILE; `-` is standard output
      --fail-if 'p99>20ms'   end with status 1 if so; may be given several times. There are p50, p90, p99, p99.9,
                             p99.99, max, errors, rate, late, cpu (of 1,000 requests), memory and ratio
      --no-ceiling           leave out what the cost is compared with
    """
}
