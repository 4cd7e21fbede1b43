internal import Assembly
internal import Glibc

let arguments = Array(CommandLine.arguments.dropFirst())
let waitsForSignals =
  ["serve", "import-firebase"].contains(arguments.first) || arguments.starts(with: ["apple", "transfer"])
let status = runProgram(waitsForSignals: waitsForSignals) { await runCommand(arguments) }
fflush(nil)
// Not `exit`: OpenSSL's handler there takes its locks away from threads that may still open a key
// (OPENSSL_cleanup(3)), and a program that has done its work would end with a crash.
_exit(status)
