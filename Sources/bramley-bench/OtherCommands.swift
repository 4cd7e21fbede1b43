internal import Bench
internal import Load
internal import LoadReport
internal import Wire

let compareHelp = """
  usage: bramley-bench compare A.json B.json
         bramley-bench --compare A.json B.json

  Both are reports that --json wrote.
  """

/// `bramley-bench compare`: two reports beside each other.
func compare(_ list: [String]) throws(CommandFault) -> Int32 {
  let arguments = try Arguments(list, options: [], switches: [])
  guard arguments.words.count == 2 else { throw .usage("compare takes two reports") }
  let (a, b) = (try readReport(arguments.words[0]), try readReport(arguments.words[1]))
  printBytes(Array((comparison(a, b) + "\n").utf8))
  return ExitStatus.done
}

private func readReport(_ path: String) throws(CommandFault) -> RunReport {
  guard let bytes = readFile(path, atMost: 16 << 20) else { throw .unavailable("cannot read `\(path)`") }
  guard let object = try? JSONObject(parsing: bytes), let report = RunReport(object) else {
    throw .unavailable("`\(path)` is no report of bramley-bench")
  }
  return report
}

let startHelp = """
  usage: bramley-bench start --spawn PROGRAM [--env NAME=VALUE]… [--data FOLDER] [--log FILE] [--json]

  Starts the server with a new database and then again with that one: how long each takes until it is ready, and how
  much memory it takes when nobody asks it anything.
  """

/// `bramley-bench start`.
func start(_ list: [String]) throws(CommandFault) -> Int32 {
  let arguments = try Arguments(list, options: ["spawn", "data", "log"], lists: ["env"], switches: ["json"])
  guard arguments.words.isEmpty, let path = arguments["spawn"] else {
    throw .usage("start needs --spawn PROGRAM")
  }
  let service = try attempt { () throws(LoadError) in
    try SpawnedServer(
      path: path, in: arguments["data"] ?? temporaryFolder, extra: arguments.all("env"), log: arguments["log"]
    )
  }
  defer { service.stop() }
  let first = service.program.readyMilliseconds
  try attempt { () throws(LoadError) in try service.restart() }
  let second = service.program.readyMilliseconds
  let memory = ProcessMemory(of: service.program.process)?.resident ?? 0
  if arguments.has("json") {
    var out = JSONWriter()
    out.member("firstStartMilliseconds", json: decimal(first, 1).utf8)
    out.member("secondStartMilliseconds", json: decimal(second, 1).utf8)
    out.member("idleBytes", Int64(memory))
    printBytes(out.finish() + [10])
  } else {
    let text =
      "ready      after \(decimal(first, 1)) ms with a new database, after \(decimal(second, 1)) ms with it again\n"
    printBytes(Array((text + "idle       \(decimal(Double(memory) / 1e6, 1)) MB\n").utf8))
  }
  return ExitStatus.done
}

let mintHelp = """
  usage: bramley-bench mint --count N [--persons N] [--tokens FILE]

    --count N      how many there shall be
    --persons N    of how many persons (10000)
    --tokens FILE  where they are kept, instead of the place where workloads look for them
  """

/// `bramley-bench mint`: mints Apple tokens ahead, so that no run has to wait for it.
func mint(_ list: [String], _ stop: StopFlag) throws(CommandFault) -> Int32 {
  let arguments = try Arguments(list, options: ["count", "persons", "tokens"], switches: [])
  guard arguments.words.isEmpty, let count = try number("count", of: arguments, 1...2_000_000) else {
    throw .usage("mint needs --count N")
  }
  guard let file = tokenFile(arguments) else {
    throw .usage("mint needs --tokens FILE where there is no HOME")
  }
  var minted = MintedTokens(persons: try number("persons", of: arguments, 1...10_000_000) ?? 10_000)
  minted.load(file, youngerThan: 2700)
  try attempt { () throws(LoadError) in try minted.mint(upTo: count, stop: stop) }
  guard minted.save(file) else { throw .unavailable("cannot write `\(file)`") }
  print("\(minted.count) tokens in \(file)")
  return ExitStatus.done
}

/// Where minted tokens are kept.
func tokenFile(_ arguments: Arguments) -> String? {
  if let path = arguments["tokens"] { return path }
  if let cache = environmentValue("XDG_CACHE_HOME"), cache.hasPrefix("/") {
    return cache + "/bramley-bench/tokens"
  }
  return environmentValue("HOME").map { $0 + "/.cache/bramley-bench/tokens" }
}
