package import Domain

/// What a call to Apple that failed means for the next one.
package enum AppleSetback: Sendable, Equatable {
  /// Nothing was sent: the way to Apple, or what it takes to call, is not there.
  case unsent
  /// Apple answered that it will not have this code or token, now or ever.
  case refused
  /// Apple answered that it does not know us; that says nothing of the code or token.
  case misconfigured
  /// Apple answered that it can make nothing of what an app brought, by whichever client.
  case unusable
  /// Apple answered that it does nothing now.
  case declined
  /// It is not known whether Apple did it.
  case uncertain
}

/// Why work was given up: a bounded set of words.
package enum AppleSurrender: String, Sendable, CaseIterable {
  /// Used by somebody else before, over, or another client's.
  case codeRefused = "code_refused"
  /// Refused after an attempt of ours whose answer was lost: that attempt may have used it.
  case codeAmbiguous = "code_ambiguous"
  /// It lives five minutes.
  case codeExpired = "code_expired"
  /// What came for it is another person's, or another client's.
  case otherPerson = "other_person"
  /// The identity token that came for it is not good.
  case tokenRefused = "token_refused"
  /// Apple's answer lacks what it has to have.
  case answerUnusable = "answer_unusable"
  /// An app brought what is no token of ours, or none at all; or a code that was used before.
  case broughtUnusable = "brought_unusable"
  /// It was tried for days.
  case tooOld = "too_old"
}

extension AppleWork {
  /// What `fault` says while a call is under way.
  package static let sending = "sending"
  /// What `fault` says of work that nobody but an operator can help.
  package static let misconfiguredPrefix = "misconfigured: "

  /// Whether it waits for an operator to mend the settings.
  package var isMisconfigured: Bool { fault?.hasPrefix(Self.misconfiguredPrefix) ?? false }

  /// What becomes of the work after a call that failed. A code is never sent anew as if Apple had not had it; what is
  /// refused is not asked twice.
  ///
  /// - Parameters:
  ///   - word: What the call met.
  ///   - wait: Seconds for which Apple wants not to be asked; an hour at most is believed.
  ///   - jitter: From 0 to 1, so that what failed together does not come back together.
  package func result(
    after setback: AppleSetback, _ word: String, wait: Int64 = 0, jitter: Double, at now: UnixTime
  ) -> AppleWorkResult {
    let isCode = secret.kind == .code
    if setback == .refused {
      // What is no good any more has nothing left that could be revoked.
      guard isCode else { return .revoked(by: client) }
      if isBrought, !isSent { return .dropped(AppleSurrender.broughtUnusable.rawValue) }
      return .dropped((isSent ? AppleSurrender.codeAmbiguous : .codeRefused).rawValue)
    }
    if setback == .unusable { return .dropped(AppleSurrender.broughtUnusable.rawValue) }
    // From a minute on for what an operator has to mend, seconds for the rest. Apple was seen not to know somebody once and to
    // know him at the next call.
    let first = setback == .misconfigured && attempts > 1 ? 30.0 : 5.0
    let doubled = first * Double(1 << min(max(attempts - 1, 0), 12))
    let own = Int64((min(doubled, 3600) * (0.8 + 0.4 * jitter)).rounded())
    let until = now + max(own, min(wait, 3600))
    let isUsedUp = isCode && (isSent || setback != .unsent)
    let age = until.since(createdAt)
    if isUsedUp, age > Limits.authorizationCodeSeconds {
      return .dropped(AppleSurrender.codeExpired.rawValue)
    }
    if age > Limits.appleWorkSeconds { return .dropped(AppleSurrender.tooOld.rawValue) }
    return .postponed(
      until: until, fault: setback == .misconfigured ? Self.misconfiguredPrefix + word : word,
      isSent: isSent || setback == .uncertain)
  }
}
