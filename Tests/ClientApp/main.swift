import BramleyClient
import Foundation

// An app without a screen: `client-app URL STORE refresh COUNT`, or `client-app URL STORE resume`. It prints who is signed
// in, and ends with 1 when that is nobody.

let arguments = CommandLine.arguments
guard arguments.count > 3, let url = URL(string: arguments[1]) else { exit(64) }
let auth = Auth(url: url, store: FileStore(path: arguments[2]))

do {
  if arguments[3] == "resume" { _ = try await auth.resumeSignIn() }
  guard let user = auth.currentUser else {
    print("nobody")
    exit(1)
  }
  for _ in 0..<(arguments.count > 4 ? Int(arguments[4]) ?? 0 : 0) {
    _ = try await user.getIDToken(forcingRefresh: true)
  }
  print(user.uid)
} catch {
  print("\(error)")
  exit(1)
}
