import Foundation

/// All bytes of a file; nil when it cannot be read.
package func readWholeFile(_ path: String) -> [UInt8]? {
  FileManager.default.contents(atPath: path).map { Array($0) }
}
