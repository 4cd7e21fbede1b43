// In the form of a Flutter plug-in: a channel of named methods, whose arguments and results are plain values.

import BramleyClient
import Foundation

#if canImport(Flutter)
  import Flutter

  final class BramleyPlugin: NSObject, FlutterPlugin {
    private let bridge = BramleyBridge()

    static func register(with registrar: any FlutterPluginRegistrar) {
      let channel = FlutterMethodChannel(name: "bramley", binaryMessenger: registrar.messenger())
      registrar.addMethodCallDelegate(BramleyPlugin(), channel: channel)
    }

    func handle(_ call: FlutterMethodCall, result: @escaping FlutterResult) {
      let arguments = call.arguments as? [String: String] ?? [:]
      bridge.handle(call.method, arguments) { value, error in
        result(error.map { FlutterError(code: $0.code, message: $0.message, details: $0.details) } ?? value)
      }
    }
  }
#endif

/// What a Dart `PlatformException` is made from.
struct BridgeError: Equatable, Sendable {
  let code: String
  let message: String
  let details: [String: String]
}

struct BramleyBridge: Sendable {
  typealias Reply = @MainActor ([String: String]?, BridgeError?) -> Void

  func handle(_ method: String, _ arguments: [String: String], reply: @escaping Reply) {
    switch method {
    case "Auth#nonce":
      let nonce = AppleNonce()
      answer(reply) { ["raw": nonce.raw, "sha256": nonce.sha256] }
    case "Auth#signInWithCredential":
      let credential = OAuthProvider.credential(
        withProviderID: arguments["providerId"] ?? "", idToken: arguments["idToken"] ?? "",
        rawNonce: arguments["rawNonce"])
      Auth.auth().signIn(with: credential) { result, error in
        if let error { return reply(nil, convert(error)) }
        reply(
          result.map { ["uid": $0.user.uid, "isNewUser": "\($0.additionalUserInfo?.isNewUser ?? false)"] },
          nil)
      }
    case "User#getIdToken":
      guard let user = Auth.auth().currentUser else { return answer(reply) { throw AuthErrorCode.nullUser } }
      user.getIDTokenForcingRefresh(arguments["forceRefresh"] == "true") { token, error in
        reply(token.map { ["token": $0] }, error.map(convert))
      }
    case "Auth#signOut":
      answer(reply) {
        try Auth.auth().signOut()
        return [:]
      }
    default: answer(reply) { throw CocoaError(.featureUnsupported) }
    }
  }

  private func answer(_ reply: @escaping Reply, _ work: () throws -> [String: String]) {
    let result = Result { try work() }
    Task { @MainActor in
      switch result {
      case .success(let value): reply(value, nil)
      case .failure(let error): reply(nil, convert(error))
      }
    }
  }
}

/// `ERROR_MISSING_OR_INVALID_NONCE` becomes `missing-or-invalid-nonce`, as Dart code knows it.
private func convert(_ error: any Error) -> BridgeError {
  let error = error as NSError
  let name = error.userInfo[AuthErrorUserInfoNameKey] as? String ?? "ERROR_UNKNOWN"
  let word = name.dropFirst("ERROR_".count).lowercased().replacingOccurrences(of: "_", with: "-")
  let reason = error.userInfo[AuthErrorUserInfoReasonKey] as? String
  return BridgeError(
    code: word, message: error.localizedDescription, details: reason.map { ["reason": $0] } ?? [:])
}
