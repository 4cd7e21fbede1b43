/// Settings as text, each with where it came from; faults are gathered, not thrown one by one.
struct RawSettings {
  struct Value {
    let text: String
    let source: String
  }

  private(set) var values: [String: Value] = [:]
  private(set) var faults: [SettingsFault] = []
  /// Those that are set, but to a file that cannot be read.
  private(set) var unreadable: Set<String> = []
  private let known = Dictionary(uniqueKeysWithValues: allSettings.map { ($0.name, $0) })

  /// - Parameters:
  ///   - environment: All of it; what does not begin with `BRAMLEY_` is not ours.
  ///   - file: The settings file's path, if there is one.
  ///   - contents: Reads a file whole; nil when it cannot be read.
  init(environment: [String: String], file: String?, contents: (String) -> [UInt8]?) {
    let fromFile = file.map { file in
      let settings = readFile(file, contents)
      return gather(settings.map { (name: $0.key, text: $0.value, source: "\(file): \($0.key)") }, contents)
    }
    let ours = environment.filter { $0.key.hasPrefix("BRAMLEY_") }.map { variable, text in
      // One spelling for each: `BRAMLEY_listen` is nobody's setting.
      let isUpperCase = !variable.utf8.contains { (0x61...0x7A).contains($0) }
      let name = isUpperCase ? lowercase(variable.dropFirst("BRAMLEY_".count)) : variable
      return (name: name, text: text, source: variable)
    }
    values = (fromFile ?? [:]).merging(gather(ours, contents)) { _, environment in environment }
  }

  /// Notes what is wrong with a setting, unless that follows from its file, which was complained about.
  mutating func fault(_ name: String, _ problem: String) {
    guard !unreadable.contains(name) else { return }
    faults.append(SettingsFault(setting: known[name]?.variable ?? name, problem: problem))
  }

  private mutating func readFile(_ file: String, _ contents: (String) -> [UInt8]?) -> [String: String] {
    guard let bytes = contents(file) else {
      faults.append(SettingsFault(setting: file, problem: "cannot be read"))
      return [:]
    }
    do throws(YAMLFault) {
      return try readYAML(bytes)
    } catch {
      faults.append(SettingsFault(setting: file, problem: "line \(error.line): \(error.problem)"))
      return [:]
    }
  }

  /// Known settings by name; `NAME_FILE` becomes the contents of that file.
  private mutating func gather(
    _ settings: [(name: String, text: String, source: String)], _ contents: (String) -> [UInt8]?
  ) -> [String: Value] {
    var gathered: [String: Value] = [:]
    for (name, text, source) in settings.sorted(by: { $0.source < $1.source }) {
      var target = name
      var value = text
      if known[name] == nil {
        target = String(name.dropLast(name.hasSuffix("_file") ? "_file".count : 0))
        guard target != name, known[target]?.mayBeFile == true else {
          faults.append(SettingsFault(setting: source, problem: "no such setting"))
          continue
        }
        guard let bytes = contents(text), let read = String(validating: bytes, as: UTF8.self) else {
          faults.append(SettingsFault(setting: source, problem: "the file that it names cannot be read"))
          unreadable.insert(target)
          continue
        }
        value = trimmed(read)
      }
      guard gathered.updateValue(Value(text: value, source: source), forKey: target) == nil else {
        fault(target, "is set twice: itself and as a file")
        continue
      }
    }
    return gathered
  }
}

func lowercase(_ text: some StringProtocol) -> String {
  String(decoding: text.utf8.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 }, as: UTF8.self)
}

/// Without white space at both ends.
func trimmed(_ text: some StringProtocol) -> String {
  let bytes = Array(text.utf8)
  let isSpace: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
  guard let first = bytes.firstIndex(where: { !isSpace($0) }),
    let last = bytes.lastIndex(where: { !isSpace($0) })
  else { return "" }
  return String(decoding: bytes[first...last], as: UTF8.self)
}
