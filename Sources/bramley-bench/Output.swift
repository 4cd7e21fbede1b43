internal import Load
internal import LoadReport
internal import Wire

/// Writes a report wherever the command line wants it; the text goes to standard output unless something else does.
func write(_ report: RunReport, _ arguments: Arguments) throws(CommandFault) {
  let forms: [(option: String, bytes: [UInt8])] = [
    ("json", report.json + [10]), ("csv", Array(report.csv.utf8)), ("html", Array(report.html.utf8)),
  ]
  var isPrinted = false
  var lost: String?
  for (option, bytes) in forms {
    guard let path = arguments[option] else { continue }
    if path == "-" {
      printBytes(bytes)
      isPrinted = true
    } else if !writeFile(path, bytes) {
      lost = path
    }
  }
  if !isPrinted { printBytes(Array((report.text + "\n").utf8)) }
  // At the end: what was measured is not lost for it.
  if let lost { throw .unavailable("cannot write `\(lost)`") }
}
