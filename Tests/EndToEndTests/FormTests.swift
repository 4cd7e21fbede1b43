import Testing
import Wire

/// The F rows, as far as there are forms.
@Suite(.timeLimit(.minutes(10)))
struct FormTests {
  private func post(_ service: Service, _ form: String) async throws -> HTTPAnswer {
    try await service.send(.post("/v1/token", form: form))
  }

  @Test func `F02 in a form a plus is a space, and F04 an escape is undone once`() async throws {
    try await withService { service in
      let token = try await service.signIn(Mint.credential()).refreshToken
      let wrong = Refusal(400, "INVALID_GRANT_TYPE")
      try expect(await post(service, "grant_type=refresh+token&refresh_token=\(token)"), is: wrong)
      try expect(await post(service, "grant_type=refresh%20token&refresh_token=\(token)"), is: wrong)
      try expect(await post(service, "grant_type=refresh%255Ftoken&refresh_token=\(token)"), is: wrong)
      try expect(
        await post(service, "grant_type=refresh_token&refresh_token=a+b"),
        is: Refusal(400, "INVALID_REFRESH_TOKEN"))
      #expect(try await post(service, "grant_type=refresh%5ftoken&refresh_token=\(token)").status == 200)
    }
  }

  @Test(arguments: ["grand_type", "grantType ", "GRANT_TYPE", "grant-type", "grant_type[]"])
  func `F07 a misspelled parameter is not guessed`(_ name: String) async throws {
    try await withService { service in
      try expect(
        await post(service, "\(name.replacing(" ", with: "%20"))=refresh_token&refresh_token=x"),
        is: Refusal(400, "INVALID_GRANT_TYPE"))
    }
  }

  @Test func `F08 an empty optional field is an absent one`() async throws {
    try await withService { service in
      let empty = ["authorizationCode": #""""#, "redirectUri": #""""#, "providerId": #""""#]
      let (first, credential) = (try Mint.credential(), try Mint.credential())
      let names = try await service.trySignIn(first).json.names
      #expect(try await service.trySignIn(credential, empty).json.names == names)
    }
  }

  @Test(arguments: [
    "grant_type=refresh_token&refresh_token=A&refresh_token=B",
    "grant_type=a&grant_type=refresh_token&refresh_token=A",
    "grant_type=refresh_token&refresh_token=A&refresh%5Ftoken=B",
    "grant_type=refresh_token&grantType=refresh_token&refresh_token=A",
  ])
  func `F10 a parameter that is given twice is refused`(_ form: String) async throws {
    try await withService { service in
      try expect(await post(service, form), is: .argument("duplicate_member"))
    }
  }

  @Test(arguments: ["%FF%FE", "%ED%A0%80", "%C0%AF", "%00", "%zz", "%4"])
  func `F11 what is no UTF-8 after decoding is refused`(_ value: String) async throws {
    try await withService { service in
      try expect(
        await post(service, "grant_type=refresh_token&refresh_token=\(value)"),
        is: .argument("body_malformed"))
    }
  }
}
