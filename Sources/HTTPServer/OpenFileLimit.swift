internal import Glibc

/// Descriptors that connections leave to the rest of the program: databases, outbound requests, files.
private let reserve = 128

/// How many connections of those that are wanted the descriptors of a process allow; a few in any case, without
/// which a listener would be none.
package func affordableConnections(_ wanted: Int, descriptors: UInt) -> Int {
  let spare = Int(clamping: descriptors) - reserve
  return min(wanted, max(16, spare))
}

/// Raises the soft limit of open files to the hard one, since the usual 1,024 is less than a connection limit,
/// and returns what holds now.
func raiseOpenFileLimit() -> UInt {
  let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
  var limit = rlimit()
  // A limit that cannot be read is taken for the usual one.
  guard unsafe getrlimit(resource, &limit) == 0 else { return 1024 }
  let old = limit.rlim_cur
  if old >= limit.rlim_max { return UInt(old) }
  limit.rlim_cur = limit.rlim_max
  // Refusal leaves the old limit, with which the listener still works for fewer connections.
  return unsafe setrlimit(resource, &limit) == 0 ? UInt(limit.rlim_cur) : UInt(old)
}
