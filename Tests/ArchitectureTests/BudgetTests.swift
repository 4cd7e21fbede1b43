import Testing

@Suite struct BudgetTests {
  @Test(arguments: SourceTree.sources)
  func `a source file has at most five hundred lines, and no function seventy`(_ file: SourceFile) {
    #expect(file.lines.count <= 501)
    for span in functions(in: file.code) {
      #expect(span.lineCount <= 70, "\(file.path):\(span.firstLine)")
    }
  }

  @Test(arguments: SourceTree.tests)
  func `a test file has at most six hundred lines`(_ file: SourceFile) {
    #expect(file.lines.count <= 601)
  }

  @Test func `files are short on the whole`() {
    let counts = SourceTree.sources.map(\.lines.count).sorted()
    #expect(counts[counts.count / 2] <= 150)
    #expect(counts[counts.count * 95 / 100] <= 350)
    let lengths = SourceTree.sources.flatMap { functions(in: $0.code) }.map(\.lineCount).sorted()
    #expect(lengths.count > 300)
    #expect(lengths[lengths.count / 2] <= 10)
    #expect(lengths[lengths.count * 95 / 100] <= 40)
  }

  @Test func `functions are measured from their first line to their last brace`() {
    let code = """
      struct A {
        init() { x = 1 }
        func one(_ f: () -> Void = {}) {
          if true { f() }
        }
        func two(
          a: Int
        ) -> Int
        {
          "}"
        }
      }
      protocol P {
        func three()
        func four() -> Int
      }
      func five() { }
      """
    #expect(
      functions(in: blanked(code)) == [
        FunctionSpan(firstLine: 2, lineCount: 1), FunctionSpan(firstLine: 3, lineCount: 3),
        FunctionSpan(firstLine: 6, lineCount: 6), FunctionSpan(firstLine: 17, lineCount: 1),
      ])
  }

  @Test func `comments and strings are blanked`() {
    let text = "let a = \"b { \\\" c\" // d {\nlet e = #\"f \" {\"#; let g = \"\"\"\n  h {\n  \"\"\""
    #expect(!blanked(text).contains("{"))
    #expect(blanked(text).contains("let a = "))
    #expect(blanked(text).contains("let g = "))
    #expect(blanked(text).split(separator: "\n", omittingEmptySubsequences: false).count == 4)
  }
}
