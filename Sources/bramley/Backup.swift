internal import Assembly
internal import Settings
internal import Wire

/// `bramley backup FILE`.
func backup(_ list: [String]) throws(CommandFault) -> Int32 {
  let arguments = try parse(list)
  guard arguments.words.count == 1 else { throw .usage("backup takes the name of a new file") }
  let path = arguments.words[0]
  let settings = try loadSettings(arguments)
  do {
    let size = try backUp(settings, to: path)
    tell(
      arguments,
      """
      \(path) has the database as it was just now (\(size) bytes). The master key is not in it, and nothing in it is of \
      use without: keep it, or the list in BRAMLEY_MASTER_KEY, in another place.
      """
    ) { out in
      out.member("path", path)
      out.member("bytes", size)
      out.member("masterKeyIncluded", false)
    }
    return ExitStatus.done
  } catch {
    throw CommandFault(status: error.exitStatus, message: error.sentence)
  }
}

/// `bramley restore FILE`, and with `--end-sessions` nobody is signed in afterwards.
func restore(_ list: [String]) async throws(CommandFault) -> Int32 {
  let arguments = try parse(list, switches: ["json", "end-sessions"])
  guard arguments.words.count == 1 else { throw .usage("restore takes the file of a backup") }
  let settings = try loadSettings(arguments)
  do {
    let restoration = try await restore(
      settings, from: arguments.words[0], endsSessions: arguments.has("end-sessions"))
    let sessions =
      arguments.has("end-sessions")
      ? "\(restoration.endedSessions) sessions were ended."
      : "\(restoration.liveSessions) sessions live, also of people who signed out since (--end-sessions ends them all)."
    tell(
      arguments,
      "\(settings.database.name) is as it was at the backup; what came later is undone, deletions too. \(sessions)"
    ) { out in
      out.member("path", settings.database.name)
      out.member("liveSessions", Int64(restoration.liveSessions))
      out.member("endedSessions", Int64(restoration.endedSessions))
    }
    return ExitStatus.done
  } catch {
    throw CommandFault(status: error.exitStatus, message: error.sentence)
  }
}
