/// Seconds since 1970 of an HTTP date (`Sun, 06 Nov 1994 08:49:37 GMT`, RFC 9110 §5.6.7); nil for the older forms
/// and for anything else.
package func secondsOfHTTPDate(_ text: String) -> Int64? {
  let parts = text.split(separator: " ")
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

/// Seconds that a `Retry-After` asks to wait (RFC 9110 §10.2.3), a count or a date; nil for what is neither.
///
/// - Parameter now: The `Date` of the same answer, from which a date counts.
package func secondsToWait(retryAfter text: String?, now: String?) -> Int64? {
  guard let text else { return nil }
  if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) { return Int64(text) }
  guard let end = secondsOfHTTPDate(text), let now = now.flatMap(secondsOfHTTPDate) else { return nil }
  return max(end - now, 0)
}

/// Days since 1970-01-01 of a day in the Gregorian calendar. Years are counted from March, so that the leap day is
/// the last of its year.
private func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
  let shifted = month <= 2 ? year - 1 : year
  let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
  return 365 * shifted + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 719_468
}

/// The HTTP date of a moment of 1970 to 9999, in the form that ``secondsOfHTTPDate(_:)`` reads; a moment outside
/// becomes the nearest one inside.
package func httpDate(ofSeconds seconds: Int64) -> String {
  let moment = min(max(seconds, 0), 253_402_300_799)
  let (day, rest) = moment.quotientAndRemainder(dividingBy: 86_400)
  let (year, month, dayOfMonth) = civilDate(day)
  // 1970-01-01 was a Thursday.
  let weekday = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"][Int(day % 7)]
  let clock = [rest / 3600, rest / 60 % 60, rest % 60].map { twoDigits($0) }.joined(separator: ":")
  return "\(weekday), \(twoDigits(dayOfMonth)) \(months[Int(month) - 1]) \(year) \(clock) GMT"
}

/// A moment as RFC 3339 writes it, in UTC and whole seconds; one outside of 1970 to 9999 becomes the nearest inside.
package func timestamp(ofSeconds seconds: Int64) -> String {
  let moment = min(max(seconds, 0), 253_402_300_799)
  let (day, rest) = moment.quotientAndRemainder(dividingBy: 86_400)
  let (year, month, dayOfMonth) = civilDate(day)
  let clock = [rest / 3600, rest / 60 % 60, rest % 60].map { twoDigits($0) }.joined(separator: ":")
  return "\(year)-\(twoDigits(month))-\(twoDigits(dayOfMonth))T\(clock)Z"
}

private let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

/// The date that is so many days after 1970-01-01: the way back from ``days(_:_:_:)``, with eras of 400 years, after
/// which the calendar repeats.
private func civilDate(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
  let shifted = days + 719_468
  let (era, dayOfEra) = shifted.quotientAndRemainder(dividingBy: 146_097)
  let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
  let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
  let fromMarch = (5 * dayOfYear + 2) / 153
  let month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9
  return (
    yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * fromMarch + 2) / 5 + 1
  )
}

private func twoDigits(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
