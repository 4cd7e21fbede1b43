import Domain
import Testing

private func profile(
  _ email: String?, verified: Bool = true, isPrivate: Bool = false, status: RealUserStatus? = nil
) -> Profile {
  Profile(
    email: email.flatMap(EmailAddress.init), isEmailVerified: verified, isPrivateEmail: isPrivate,
    realUserStatus: status)
}

private func account(_ profile: Profile, name: PersonName? = nil) throws -> Account {
  Account(
    id: try #require(AccountID("a")), createdAt: UnixTime(10), lastSignInAt: UnixTime(10), isDisabled: false,
    profile: profile, name: name, identities: [])
}

@Suite struct AccountTests {
  @Test(arguments: [
    "a@example.com", "abc123xyz@privaterelay.appleid.com", "a+b@x.org", "ü@exämple.de", "o'brien@example.com",
    "a@b",
  ])
  func `plausible addresses are kept as they are`(_ text: String) {
    #expect(EmailAddress(text)?.text == text)
  }

  @Test(arguments: [
    "", "a", "@", "a@", "@b", "a@b@c", "a b@c", "a@b\r\nBcc:x", "a@b\n", "a@b,c@d", "<a@b>", "\"a\"@b",
    "a\\@b", "a@b;c",
    "a@b\u{0}", "a@b\u{7f}", "a@b\u{85}", "a\u{a0}@b", "a@b\u{2028}", "a\u{3000}@b", "(a)@b", "a:b@c",
    "a@[1.2.3.4]", "\u{202e}moc.elpmaxe@ada", "a\u{2066}@b",
  ])
  func `E11 implausible addresses are not`(_ text: String) {
    #expect(EmailAddress(text) == nil)
  }

  @Test func `E11 the limit is three hundred and twenty bytes`() {
    #expect(EmailAddress(String(repeating: "a", count: 318) + "@b") != nil)
    #expect(EmailAddress(String(repeating: "a", count: 319) + "@b") == nil)
    #expect(EmailAddress(String(repeating: "a", count: 2000) + "@b") == nil)
  }

  @Test func `U10 addresses are compared by their bytes`() {
    #expect(EmailAddress("\u{e9}@b") != EmailAddress("e\u{301}@b"))
    #expect(Set(["\u{e9}@b", "e\u{301}@b", "\u{e9}@b"].map { EmailAddress($0) }).count == 2)
  }

  @Test func `U08 silence wipes nothing`() throws {
    let name = PersonName(givenName: "Ada")
    let before = try account(profile("a@b", isPrivate: true, status: .likelyReal), name: name)
    var after = before
    after.learn(profile(nil, verified: false), name: nil, at: UnixTime(20))
    #expect(after.profile == before.profile)
    #expect(after.name == name)
    #expect(after.lastSignInAt == UnixTime(20))
    after.learn(profile(nil), name: PersonName(), at: UnixTime(21))
    #expect(after.name == name)
  }

  @Test func `U08 a name is never overwritten by another`() throws {
    var account = try account(profile(nil), name: PersonName(givenName: "Ada"))
    account.learn(profile(nil), name: PersonName(givenName: "Eve"), at: UnixTime(20))
    #expect(account.name == PersonName(givenName: "Ada"))
  }

  @Test func `U08 a name that was empty at first is learnt later`() throws {
    var account = try account(profile(nil), name: PersonName(givenName: " "))
    #expect(account.name == nil)
    account.learn(profile(nil), name: PersonName(givenName: "Ada"), at: UnixTime(20))
    #expect(account.name == PersonName(givenName: "Ada"))
  }

  @Test func `a new address brings its own marks`() throws {
    var account = try account(profile("a@b", verified: true, isPrivate: true))
    account.learn(
      profile("c@d", verified: false, isPrivate: false, status: .unknown), name: nil, at: UnixTime(20))
    #expect(account.profile == profile("c@d", verified: false, isPrivate: false, status: .unknown))
  }

  @Test func `T10 a clock that went back does not move the last sign-in back`() throws {
    var account = try account(profile(nil))
    account.learn(profile(nil), name: nil, at: UnixTime(5))
    #expect(account.lastSignInAt == UnixTime(10))
  }

  @Test func `a name that was chosen is shown in place of the provider's`() throws {
    var account = try account(profile(nil), name: PersonName(givenName: "Ada"))
    #expect(account.displayName == "Ada")
    account.chosenName = "Countess"
    account.learn(profile(nil), name: PersonName(givenName: "Eve"), at: UnixTime(20))
    #expect(account.displayName == "Countess")
    account.chosenName = nil
    #expect(account.displayName == "Ada")
  }

  @Test(arguments: [EmailOrigin.administrator, .imported])
  func `L02 an address that no provider gave stays, until a provider has verified that very one`(
    _ origin: EmailOrigin
  ) throws {
    var account = try account(profile("a@b", verified: false))
    account.emailOrigin = origin
    account.learn(profile("c@d", isPrivate: true, status: .likelyReal), name: nil, at: UnixTime(20))
    #expect(account.profile == profile("a@b", verified: false, status: .likelyReal))
    account.learn(profile("a@b", verified: false, isPrivate: true), name: nil, at: UnixTime(21))
    #expect(account.emailOrigin == origin)
    #expect(!account.profile.isPrivateEmail)
    account.learn(profile("a@b", isPrivate: true), name: nil, at: UnixTime(22))
    #expect(account.emailOrigin == .provider)
    #expect(account.profile == profile("a@b", isPrivate: true, status: .likelyReal))
  }

  @Test func `an account without an address learns one, wherever its last one came from`() throws {
    var account = try account(profile(nil, verified: false))
    account.emailOrigin = .imported
    account.learn(profile("a@b"), name: nil, at: UnixTime(20))
    #expect(account.emailOrigin == .provider)
    #expect(account.profile == profile("a@b"))
  }

  @Test(
    arguments: [
      ("a@privaterelay.appleid.com", false, true), ("a@private.icloud.com", true, true),
      ("a@icloud.com", true, true), ("a@icloud.com", false, false),
      ("a@privaterelay.appleid.com.example", false, false),
      (nil, true, true), (nil, false, false),
    ] as [(String?, Bool, Bool)])
  func `P05 the claim says what is a relay address, and Apple's own domain does`(
    _ email: String?, _ isPrivate: Bool, _ isRelayed: Bool
  ) {
    #expect(profile(email, isPrivate: isPrivate).isRelayed == isRelayed)
  }

  @Test func `an identity joins by its address only when both sides vouch for it`() throws {
    let good = profile("a@b")
    let holder = try account(good)
    #expect(holder.admits(good))
    for news in [
      profile(nil), profile("c@d"), profile("A@b"), profile("a@b", verified: false),
      profile("a@b", isPrivate: true),
    ] {
      #expect(!holder.admits(news))
    }
    for held in [nil, "c@d"] { #expect(try !account(profile(held)).admits(good)) }
    #expect(try !account(profile("a@b", verified: false)).admits(good))
    #expect(try !account(profile("a@b", isPrivate: true)).admits(good))
    #expect(try !account(profile(nil)).admits(profile(nil)))
  }

  @Test(arguments: [(.provider, true), (.administrator, true), (.imported, false)] as [(EmailOrigin, Bool)])
  func `what another system called verified vouches for nothing`(_ origin: EmailOrigin, _ admits: Bool) throws
  {
    var holder = try account(profile("a@b"))
    holder.emailOrigin = origin
    #expect(holder.admits(profile("a@b")) == admits)
    holder.isAnonymous = true
    #expect(!holder.admits(profile("a@b")))
  }
}
