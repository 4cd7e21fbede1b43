internal import Assembly
internal import Domain
internal import Settings
internal import Telemetry
internal import Wire

/// `bramley serve`: runs until SIGTERM or SIGINT.
func serve(_ list: [String]) async throws(CommandFault) -> Int32 {
  let arguments = try parse(list, switches: [])
  guard arguments.words.isEmpty else { throw .usage("serve takes no words") }
  let settings = try loadSettings(arguments)
  let log: Log
  do {
    log = try Log(threshold: settings.logLevel, capacity: 8192, clock: .system, sink: .standardOutput())
  } catch {
    throw CommandFault(status: ExitStatus.unavailable, message: "no thread for the log: \(error)")
  }
  do {
    for warning in settings.warnings { log.warning("setting_doubtful", [.text("problem", warning)]) }
    let service = try await Service(settings, log: log)
    log.info("ready", [.text("listen", service.address), .text("version", bramleyVersion)])
    try await stopSignal()
    log.info("stopping", [])
    await service.stop()
    log.info("stopped", [])
    await log.stop(within: .seconds(1))
    return ExitStatus.done
  } catch {
    await log.stop(within: .seconds(1))
    throw CommandFault(status: error.exitStatus, message: error.sentence)
  }
}

/// The settings of the environment and of `--config`; every fault is told, then the program ends with 78.
func loadSettings(_ arguments: Arguments) throws(CommandFault) -> Settings {
  do {
    return try readSettings(
      environment: processEnvironment(), file: arguments["config"], cores: availableCores(),
      contents: readFile)
  } catch {
    throw CommandFault(
      status: ExitStatus.configuration,
      message: error.faults.map { "\($0.setting) \($0.problem)" }.joined(separator: "\nbramley: "))
  }
}
