import Testing
import Wire

@Suite struct HTTPDateTests {
  @Test(
    arguments: [
      (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
      (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (951_868_799, "Tue, 29 Feb 2000 23:59:59 GMT"),
      (1_796_007_062, "Mon, 30 Nov 2026 02:51:02 GMT"), (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
      (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
    ] as [(Int64, String)])
  func `a date is written and read as RFC 9110 has it`(_ seconds: Int64, _ text: String) {
    #expect(httpDate(ofSeconds: seconds) == text)
    #expect(secondsOfHTTPDate(text) == seconds)
  }

  @Test func `what is written is read back, over eight thousand years`() {
    let moments = stride(from: Int64(0), through: 253_402_300_799, by: 86_400 * 41 + 12_347)
    for moment in moments { #expect(secondsOfHTTPDate(httpDate(ofSeconds: moment)) == moment) }
  }

  @Test func `a moment that has no date becomes the nearest that has one`() {
    #expect(httpDate(ofSeconds: -1) == httpDate(ofSeconds: 0))
    #expect(httpDate(ofSeconds: .max) == "Fri, 31 Dec 9999 23:59:59 GMT")
  }

  @Test(arguments: [
    "", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Sun, 06 Nov 1994 08:49:37 UTC",
    "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1969 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT",
    "Sun, 06 Nov 1994 08:49 GMT",
  ])
  func `what is no date of this form has no moment`(_ text: String) {
    #expect(secondsOfHTTPDate(text) == nil)
  }

  @Test func `a wait is a count of seconds, or lasts until a date from that of the answer on`() {
    let now = "Sun, 06 Nov 1994 08:49:37 GMT"
    #expect(secondsToWait(retryAfter: "120", now: nil) == 120)
    #expect(secondsToWait(retryAfter: "Sun, 06 Nov 1994 08:50:00 GMT", now: now) == 23)
    #expect(secondsToWait(retryAfter: "Sun, 06 Nov 1994 08:00:00 GMT", now: now) == 0)
    #expect(secondsToWait(retryAfter: now, now: nil) == nil)
    for text in [nil, "", "-1", "+1", "1.5", "99999999999999999999", "soon"] {
      #expect(secondsToWait(retryAfter: text, now: now) == nil)
    }
  }

  @Test(
    arguments: [
      (0, "1970-01-01T00:00:00Z"), (951_782_399, "2000-02-28T23:59:59Z"),
      (951_782_400, "2000-02-29T00:00:00Z"),
      (1_800_000_000, "2027-01-15T08:00:00Z"), (.max, "9999-12-31T23:59:59Z"), (-1, "1970-01-01T00:00:00Z"),
    ] as [(Int64, String)])
  func `a timestamp is that of RFC 3339`(_ row: (Int64, String)) {
    #expect(timestamp(ofSeconds: row.0) == row.1)
  }
}
