#if canImport(AuthenticationServices) && !os(tvOS) && !os(watchOS)
  public import AuthenticationServices
  internal import Foundation

  extension Auth {
    /// The whole of a sign-in in a browser, in the system's own sheet.
    ///
    /// - Parameters:
    ///   - clientID: The Services ID.
    ///   - returnURL: One of the service's `BRAMLEY_RETURN_URLS`, with a scheme of the app's own. With `https` the domain has
    ///     to be associated with the app, and the system iOS 17.4, macOS 14.4 or visionOS 1.1.
    ///   - context: Before what the sheet is shown.
    /// - Throws: ``AuthErrorCode/webContextCancelled`` when the person closed sheet or page,
    ///   ``AuthErrorCode/webSignInUserInteractionFailure`` when the sheet could not be shown, `CancellationError` when the
    ///   task was cancelled.
    @MainActor @discardableResult
    public func signInWithBrowser(
      clientID: String, returnURL: String,
      presenting context: any ASWebAuthenticationPresentationContextProviding
    ) async throws -> AuthDataResult {
      let web = webSignIn(clientID: clientID, returnURL: returnURL)
      return try await signIn(with: web, returnedTo: web.shown(in: context))
    }
  }

  extension WebSignIn {
    /// Shows the sheet until the browser comes back, or the caller's task is cancelled.
    @MainActor fileprivate func shown(
      in context: any ASWebAuthenticationPresentationContextProviding
    ) async throws -> URL {
      let sheet = try BrowserSheet(for: self, in: context)
      return try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { sheet.show($0) }
      } onCancel: {
        Task { @MainActor in sheet.cancel() }
      }
    }
  }

  /// The system's sheet, which ends once.
  @MainActor private final class BrowserSheet {
    private typealias Waiting = Locked<CheckedContinuation<URL, any Error>?>

    private let waiting: Waiting
    private let session: ASWebAuthenticationSession

    init(for web: WebSignIn, in context: any ASWebAuthenticationPresentationContextProviding) throws {
      let waiting = Waiting(nil)
      // The system calls this on a queue of its own, where a closure of the main actor's would end the app.
      let completion: @Sendable (URL?, (any Error)?) -> Void = { url, error in
        Self.end(waiting, with: url.map { .success($0) } ?? .failure(fault(of: error)))
      }
      self.waiting = waiting
      let place = URLComponents(string: web.returnURL)
      if place?.scheme != "https" {
        session = ASWebAuthenticationSession(
          url: web.url, callbackURLScheme: place?.scheme, completionHandler: completion)
      } else if #available(iOS 17.4, macOS 14.4, visionOS 1.1, *), let host = place?.host,
        let path = place?.path
      {
        session = ASWebAuthenticationSession(
          url: web.url, callback: .https(host: host, path: path), completionHandler: completion)
      } else {
        throw AuthErrorCode.webSignInUserInteractionFailure.error(
          "This system's sheet ends at schemes of apps, and not at https.")
      }
      session.presentationContextProvider = context
    }

    func show(_ continuation: CheckedContinuation<URL, any Error>) {
      waiting.withLock { $0 = continuation }
      // Whether a sheet that does not start ends as well is not promised; nor whether one that is cancelled does.
      if Task.isCancelled {
        cancel()
      } else if !session.start() {
        Self.end(waiting, with: .failure(fault(of: nil)))
      }
    }

    func cancel() {
      session.cancel()
      Self.end(waiting, with: .failure(CancellationError()))
    }

    private nonisolated static func end(_ waiting: Waiting, with result: Result<URL, any Error>) {
      let continuation = waiting.withLock { waiting in
        defer { waiting = nil }
        return waiting
      }
      continuation?.resume(with: result)
    }
  }

  private func fault(of error: (any Error)?) -> AuthErrorCode {
    let details = error.map { [NSUnderlyingErrorKey: $0] } ?? [:]
    guard (error as? ASWebAuthenticationSessionError)?.code == .canceledLogin else {
      return .webSignInUserInteractionFailure.error("The browser could not be shown.", details)
    }
    return .webContextCancelled.error("The browser was closed.", details)
  }
#endif
