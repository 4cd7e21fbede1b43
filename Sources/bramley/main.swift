internal import Assembly
internal import Glibc

// Before any other thread exists.
takeOverSignals()
exit(await runCommand(Array(CommandLine.arguments.dropFirst())))
