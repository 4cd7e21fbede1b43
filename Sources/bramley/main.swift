internal import Assembly
internal import Glibc

let arguments = Array(CommandLine.arguments.dropFirst())
exit(runProgram(waitsForSignals: arguments.first == "serve") { await runCommand(arguments) })
