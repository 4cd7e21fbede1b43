import API
import Contract
import Foundation
import Settings
import Testing

/// The README says what is there, and nothing else.
@Suite struct ReadmeTests {
  private let readme: String
  private let document: APIDocument

  init() throws {
    readme = try String(contentsOfFile: repositoryFile("README.md"), encoding: .utf8)
    document = try APIDocument.shared.get()
  }

  /// What stands in code quotes in the first cells of the settings' table.
  private var variables: [String] {
    let rows = readme.split(separator: "\n").filter { $0.hasPrefix("| `BRAMLEY_") }
    return rows.flatMap { row -> [String] in
      row.split(separator: "|")[0].split(separator: "`").map(String.init).filter { $0.hasPrefix("BRAMLEY_") }
    }
  }

  @Test func `the table of settings has every setting once, and no other`() {
    #expect(variables.sorted() == allSettings.map(\.variable).sorted())
  }

  @Test func `no setting is mentioned that there is not`() {
    let known = Set(allSettings.map(\.variable)).union(["BRAMLEY_"])
    let words = readme.split { !($0 == "_" || $0.isASCII && ($0.isUppercase || $0.isNumber)) }
    for word in words where word.hasPrefix("BRAMLEY_") { #expect(known.contains(String(word)), "\(word)") }
  }

  @Test func `every route is named, the older ones below their common path`() {
    let older = "/identitytoolkit/v3/relyingparty/"
    #expect(readme.contains("`\(older)`"))
    for path in document.operations.map(\.path) {
      let name = path.hasPrefix(older) ? "`\(path.dropFirst(older.count))`" : path
      #expect(readme.contains(name), "\(path)")
    }
  }

  @Test func `P04 the README says what mail to relay addresses takes`() {
    for word in ["privaterelay.appleid.com", "private.icloud.com", "SPF"] { #expect(readme.contains(word)) }
  }

  @Test func `every code of an error is in its table`() {
    for code in FailureCode.allCases { #expect(readme.contains("`\(code.rawValue)`"), "\(code.rawValue)") }
  }

  @Test func `every reason is explained in the README or listed in the document`() {
    let listed = Set(document.words(of: "Reason"))
    for reason in FailureReason.allCases.map(\.rawValue) {
      #expect(listed.contains(reason) || readme.contains("`\(reason)`"), "\(reason)")
    }
  }

  @Test func `every word of the nonce's and the token's errors is explained in the README`() {
    let codes: Set<FailureCode> = [
      .missingOrInvalidNonce, .invalidIdpResponse, .unavailable, .permissionDenied,
    ]
    for reason in FailureReason.allCases where codes.contains(reason.row.code) {
      #expect(readme.contains("`\(reason.rawValue)`"), "\(reason.rawValue)")
    }
  }
}
