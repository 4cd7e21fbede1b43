internal import Assembly
internal import Domain
internal import Settings
internal import Telemetry
internal import Wire

/// `bramley serve`: runs until SIGTERM or SIGINT; SIGHUP reads the settings again.
func serve(_ list: [String]) async throws(CommandFault) -> Int32 {
  let arguments = try parse(list, switches: [])
  guard arguments.words.isEmpty else { throw .usage("serve takes no words") }
  let settings = try loadSettings(arguments)
  let log: Log
  do {
    log = try Log(threshold: settings.logLevel, capacity: 8192, clock: .system, sink: .standardOutput())
  } catch {
    let fault = StartFault.threadsUnavailable
    throw CommandFault(status: fault.exitStatus, message: fault.sentence)
  }
  do {
    let node = try await Node(settings, log: log)
    var fields: [Log.Field] = [.text("listen", node.address), .text("version", bramleyVersion)]
    if let address = node.adminAddress { fields.append(.text("adminListen", address)) }
    log.info("ready", fields)
    // Behind it: who starts a service may take its first line for this one.
    for warning in settings.warnings + [masterKeyFileWarning(settings)].compactMap(\.self) {
      log.warning("setting_doubtful", [.text("problem", warning)])
    }
    if settings.appleKey == nil {
      log.info("apple_calls_off", [.text("cause", "apple_key_missing")])
    }
    let started = printed(arguments)
    for await signal in try nodeSignals() where signal == .reload { reload(node, arguments, started, log) }
    log.info("stopping", [])
    await node.stop()
    log.info("stopped", [])
    await log.stop(within: .seconds(1))
    return ExitStatus.done
  } catch {
    await log.stop(within: .seconds(1))
    throw CommandFault(status: error.exitStatus, message: error.sentence)
  }
}

/// Reads the settings again. With a fault in them nothing changes, and the log says what is wrong; it also says what
/// has changed since the start but needs a restart.
private func reload(_ node: Node, _ arguments: Arguments, _ started: [PrintedSetting], _ log: Log) {
  do {
    node.reload(try loadSettings(arguments))
    log.info("reloaded", [])
    for name in settingsForRestart(started, printed(arguments)) {
      log.warning("restart_needed", [.text("setting", name)])
    }
  } catch {
    log.error("reload_refused", [.text("problem", error.message)])
  }
}

private func printed(_ arguments: Arguments) -> [PrintedSetting] {
  printedSettings(environment: processEnvironment(), file: arguments["config"], contents: readFile)
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
