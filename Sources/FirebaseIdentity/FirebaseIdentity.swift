//===-- FirebaseIdentity ---------------------------------------------------===//
// Firebase's rules: the ID tokens with which people who are signed in there come over (Firebase, "Verify ID tokens using a
// third-party JWT library"). A sibling of Apple's rules; neither knows the other, and neither knows accounts and
// sessions.
//===------------------------------------------------------------------------===//

/// What a Firebase ID token has to satisfy.
package struct FirebaseTokenRules: Sendable, Equatable {
  /// The one project whose people come over.
  package let project: String
  /// Seconds by which two clocks may differ.
  package let leeway: Int64

  package init(project: String, leeway: Int64) {
    self.project = project
    self.leeway = leeway
  }

  var issuer: String { "https://securetoken.google.com/" + project }
}
