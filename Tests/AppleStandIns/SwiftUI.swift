// What samples and README use of Apple's SwiftUI (developer.apple.com/documentation/swiftui), to be compiled against.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import AuthenticationServices
@_exported public import Foundation

@MainActor @preconcurrency public protocol View {
  associatedtype Body: View
  @ViewBuilder var body: Body { get }
}

extension Never: View {
  public var body: Never { return fatalError() }
}

extension Optional: View where Wrapped: View {
  public var body: Never { return fatalError() }
}

extension View {
  public func task(
    @_inheritActorContext _ action: @escaping @isolated(any) @Sendable () async -> Void
  ) -> some View { self }
}

@resultBuilder public struct ViewBuilder {
  public static func buildExpression<Content: View>(_ content: Content) -> Content { content }
  public static func buildIf<Content: View>(_ content: Content?) -> Content? { content }
  public static func buildBlock<each Content: View>(_ content: repeat each Content) -> Text { Text("") }
}

public struct Text: View {
  public init(_ text: String) {}
  public var body: Never { return fatalError() }
}

public struct VStack: View {
  public init(@ViewBuilder _ content: () -> some View) {}
  public var body: Never { return fatalError() }
}

public struct SignInWithAppleButton: View {
  public struct Label: Sendable {
    public static let signIn = Label()
  }

  public init(
    _ label: Label = .signIn, onRequest: @escaping (ASAuthorizationAppleIDRequest) -> Void,
    onCompletion: @escaping (Result<ASAuthorization, any Error>) -> Void
  ) {}
  public var body: Never { return fatalError() }
}

@propertyWrapper public struct State<Value> {
  private let value: Value
  public init(wrappedValue: Value) { value = wrappedValue }
  public var wrappedValue: Value {
    get { value }
    nonmutating set {}
  }
}

public protocol ObservableObject: AnyObject {}

@propertyWrapper public struct StateObject<Object: ObservableObject> {
  private let make: () -> Object
  public init(wrappedValue: @autoclosure @escaping () -> Object) { make = wrappedValue }
  public var wrappedValue: Object { make() }
}

@MainActor @preconcurrency public protocol Scene {}

public struct WindowGroup: Scene {
  public init(@ViewBuilder _ content: () -> some View) {}
}

@MainActor @preconcurrency public protocol App {
  associatedtype Body: Scene
  init()
  var body: Body { get }
}

extension App {
  public static func main() {}
}
