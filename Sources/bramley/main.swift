internal import Assembly
internal import Glibc

exit(runProgram { await runCommand(Array(CommandLine.arguments.dropFirst())) })
