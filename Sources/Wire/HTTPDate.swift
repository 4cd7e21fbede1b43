/// Seconds since 1970 of an HTTP date (`Sun, 06 Nov 1994 08:49:37 GMT`, RFC 9110 §5.6.7); nil for the older forms
/// and for anything else.
package func secondsOfHTTPDate(_ text: String) -> Int64? {
  let parts = text.split(separator: " ")
  let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
  guard parts.count == 6, parts[5] == "GMT", let day = Int64(parts[1]), (1...31).contains(day),
    let month = months.firstIndex(of: String(parts[2])), let year = Int64(parts[3]),
    (1970...9999).contains(year)
  else { return nil }
  let clock = parts[4].split(separator: ":").compactMap { Int64($0) }
  guard clock.count == 3, (0...23).contains(clock[0]), (0...59).contains(clock[1]),
    (0...60).contains(clock[2])
  else {
    return nil
  }
  return days(year, Int64(month) + 1, day) * 86_400 + clock[0] * 3600 + clock[1] * 60 + clock[2]
}

/// Days since 1970-01-01 of a day in the Gregorian calendar. Years are counted from March, so that the leap day is
/// the last of its year.
private func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
  let shifted = month <= 2 ? year - 1 : year
  let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
  return 365 * shifted + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 719_468
}
