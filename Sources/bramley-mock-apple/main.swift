internal import Glibc

// A client that hangs up early is no reason to die.
signal(SIGPIPE, SIG_IGN)
exit(await runMockApple(Array(CommandLine.arguments.dropFirst())))
