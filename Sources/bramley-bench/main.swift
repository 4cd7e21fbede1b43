internal import Glibc

// A server that hangs up early is no reason to die.
signal(SIGPIPE, SIG_IGN)
let stop = watchedSignals()
let status = runCommand(Array(CommandLine.arguments.dropFirst()), stop)
fflush(nil)
// Not `exit`: threads of the load may still run, from under which its handlers would take what they use.
_exit(status)
