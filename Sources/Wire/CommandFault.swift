/// How a program ends (a promise to operators' scripts; the numbers above 1 are those of sysexits.h).
package enum ExitStatus {
  package static let done: Int32 = 0
  package static let refused: Int32 = 1
  package static let usage: Int32 = 64
  package static let unavailable: Int32 = 69
  package static let configuration: Int32 = 78
}

/// A command line that cannot be carried out as it was written, or could not be carried out.
package struct CommandFault: Error, Equatable, Sendable {
  /// One of ``ExitStatus``.
  package let status: Int32
  /// What is wrong, or would be right, for a person.
  package let message: String

  package init(status: Int32, message: String) {
    self.status = status
    self.message = message
  }

  /// It says something that it may not say; `message` is what would be right.
  package static func usage(_ message: String) -> CommandFault {
    CommandFault(status: ExitStatus.usage, message: message)
  }

  /// Something that it needs is not there.
  package static func unavailable(_ message: String) -> CommandFault {
    CommandFault(status: ExitStatus.unavailable, message: message)
  }
}
