/// Reads an export line by line, and keeps what its lines come to.
struct ArchiveReader: ~Copyable {
  private var lines: LineReader
  /// The number of the line that was read last.
  private(set) var number = 0
  private var digest = ArchiveDigest()

  /// The lines of rows before the one that was read last.
  var rowsBefore: Int64 { Int64(max(0, number - 2)) }

  /// - Parameter path: `-` is standard input.
  init(_ path: String) throws(MoveFault) {
    do {
      lines = try LineReader(path)
    } catch {
      throw MoveFault(error, line: 0)
    }
  }

  /// The first line, which says what is needed to read the others.
  mutating func header() throws(MoveFault) -> ArchiveHeader {
    guard case .header(let header)? = try next() else { throw .malformed(line: 1) }
    return header
  }

  /// The next line; nil behind the last.
  mutating func next() throws(MoveFault) -> ArchiveLine? {
    number += 1
    let bytes: ArraySlice<UInt8>?
    do {
      bytes = try lines.next()
    } catch {
      throw MoveFault(error, line: number)
    }
    guard let bytes else { return nil }
    do {
      let line = try ArchiveLine(parsing: bytes)
      if case .end = line { return line }
      digest.take(bytes)
      return line
    } catch {
      switch error {
      // The first line tells what the file is.
      case .malformed where lines.isBrokenOff && number > 1: throw .truncated(rows: rowsBefore)
      case .malformed: throw .malformed(line: number)
      case .otherFormat(let format): throw .otherFormat(format)
      }
    }
  }

  /// Whether the last line stands where it does in what was written, and nothing stands behind it.
  mutating func demandEnd(rows: Int64, digest written: String?, of taken: Int64) throws(MoveFault) {
    guard rows == taken else { throw .malformed(line: number) }
    guard written == digest.text else { throw .damaged }
    if try next() != nil { throw .malformed(line: number) }
  }
}

extension MoveFault {
  fileprivate init(_ fault: LineReader.Fault, line: Int) {
    switch fault {
    case .unreadable(let code): self = .unreadable(code: code)
    case .lineTooLong: self = .malformed(line: line)
    }
  }
}
