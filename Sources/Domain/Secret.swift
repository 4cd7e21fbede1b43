/// A value that never prints itself: not in a description, a debug description or a mirror.
///
/// `reveal()` is the one way in, so that a search for it lists every place that handles a secret.
package struct Secret<Value: Sendable>: Sendable, CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  private let value: Value

  package init(_ value: Value) {
    self.value = value
  }

  /// The value itself, for the one use that needs it.
  package func reveal() -> Value { value }

  package var description: String { "[secret]" }
  package var debugDescription: String { "[secret]" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
