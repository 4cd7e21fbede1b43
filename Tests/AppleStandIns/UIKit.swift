// What samples and README use of Apple's UIKit (developer.apple.com/documentation/uikit), to be compiled against.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

@_exported public import Foundation

@MainActor open class UIView: NSObject {
  public var window: NSObject? { nil }
}

@MainActor open class UILabel: UIView {
  public var text: String?
}

@MainActor open class UIViewController: NSObject {
  public var view: UIView! { nil }
}
