import Domain
import Testing

private struct Holder {
  let key: Secret<String>
  let maybe: Secret<String>?
  let list: [Secret<String>]
}

@Suite struct SecretTests {
  @Test func `a secret never prints itself, alone or inside something`() {
    let word = "correct-horse"
    let secret = Secret(word)
    let holder = Holder(key: secret, maybe: secret, list: [secret])
    var dumped = ""
    dump(secret, to: &dumped)
    dump(holder, to: &dumped)
    dump([secret], to: &dumped)
    let texts = [
      secret.description, secret.debugDescription, "\(secret)", String(describing: secret),
      String(reflecting: secret), "\(holder)", String(reflecting: holder),
      "\(String(describing: holder.maybe))",
      "\([secret])", dumped,
    ]
    for text in texts { #expect(!text.contains(word)) }
    #expect(Mirror(reflecting: secret).children.isEmpty)
    #expect(secret.reveal() == word)
  }
}
