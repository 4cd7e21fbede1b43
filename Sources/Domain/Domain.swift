//===-- Domain -------------------------------------------------------------===//
// What the words of this project mean: identifiers, times, people, sessions, and the capabilities that the
// rules ask of the world. Nothing here does I/O, reads a clock or draws a random number by itself, and
// nothing here knows a wire format.
//===------------------------------------------------------------------------===//

/// The name under which Apple's accounts are kept, as Firebase spells it.
package let appleProviderID = "apple.com"

/// Every size and time limit of the protocol that is not a setting, named once.
package enum Limits {
  /// Bytes of an ID token or session JWT; real ones are about 900 (RFC 8725 §3.11: limit sizes first).
  package static let tokenBytes = 8 * 1024
  /// Bytes of a request body.
  package static let bodyBytes = 64 * 1024
  /// Bytes of a request body that asks about a token: also what is far too long for one gets an answer.
  package static let introspectionBodyBytes = 256 * 1024
  /// Bytes of a request body that names many accounts.
  package static let batchBodyBytes = 2 * 1024 * 1024
  /// Bytes of a raw nonce.
  package static let nonceBytes = 512
  /// Bytes of an e-mail address that is kept.
  package static let emailBytes = 320
  /// Grapheme clusters and bytes of one part of a name.
  package static let nameCharacters = 100
  package static let nameBytes = 400
  /// Bytes of the `name` claim of a session JWT.
  package static let nameClaimBytes = 128
  /// Bytes of a session JWT's claims without custom ones: with header and RS256 signature, below 2 KiB.
  package static let sessionPayloadBytes = 1190
  /// Bytes of one device fact.
  package static let deviceBytes = 128
  /// Bytes of an authorization code or a redirect URI.
  package static let codeBytes = 2048
  /// Seconds for which a challenge from `/v1/nonces` is good.
  package static let challengeSeconds: Int64 = 300
  /// Seconds after a rotation in which the token two before the current one is still a slow tab.
  package static let slowTabSeconds: Int64 = 10
  /// Rotations in a row with a late repeat that mean two holders.
  package static let lateRepeatRotations = 3
  /// Accounts of one address that are looked at.
  package static let accountsOfOneEmail = 100
  /// Bytes of a photo's address.
  package static let urlBytes = 2048
  /// Unicode scalars of the custom claims of one account, as Firebase counts them.
  package static let customClaimsLength = 1000
  /// Accounts of one page, one import or one batch of deletions.
  package static let accountBatch = 1000
  /// Bytes of one user of a Firebase export.
  package static let exportedUserBytes = 64 * 1024
  /// Users of an export that are taken in in one transaction: a running service waits for no more.
  package static let importBatch = 500
  /// Users that are held while none of them has an identity at Apple, of an export that cannot be read twice.
  package static let heldImports = 10_000
  /// Refusals of an import that are shown one by one.
  package static let shownImportRefusals = 20
  /// Revocations of one page of the feed.
  package static let revocationPage = 1000
  /// Seconds that the feed's answer may wait for news.
  package static let longPollSeconds: Int64 = 30
  /// Accounts of one lookup.
  package static let lookupBatch = 100
  /// Seconds that a session token may live.
  package static let sessionTokenSeconds: ClosedRange<Int64> = 600...86_400
  /// Seconds by which clocks may be allowed to differ.
  package static let clockLeeway: ClosedRange<Int64> = 0...300
  /// Seconds that a person may take at Apple's page.
  package static let webAttemptSeconds: Int64 = 900
  /// Seconds in which an app trades the code of the web flow.
  package static let webCodeSeconds: Int64 = 60
  /// Bytes of a return URL, and of the state that an app has sent along.
  package static let returnURLBytes = 1024
  package static let clientStateBytes = 512
  /// Return URLs that may be set.
  package static let returnURLs = 64
  /// Seconds for which a pending credential is good.
  package static let pendingSeconds: Int64 = 600
  /// Seconds that a session cookie may live.
  package static let cookieSeconds: ClosedRange<Int64> = 300...1_209_600
  /// Seconds for which a custom token may be good (Firebase, "Create custom tokens").
  package static let customTokenSeconds: Int64 = 3600
  /// Seconds for which verifiers may keep the key set.
  package static let keySetMaxAge: Int64 = 900
  /// Seconds that a signing key is published before it signs: longer than any verifier keeps a key set.
  package static let signingKeyLead: Int64 = 1800
  /// Seconds after which every node has noticed that another key signs.
  package static let signingKeyNotice: Int64 = 2
  /// Seconds that an authorization code of Apple's lives (TN3107), and some for clocks that differ.
  package static let authorizationCodeSeconds: Int64 = 330
  /// Seconds for which a revocation is tried again and again.
  package static let appleWorkSeconds: Int64 = 864_000
  /// Seconds after which a refresh token of Apple's is looked at again: not more than once a day.
  package static let revalidationSeconds: Int64 = 86_400
  /// Seconds over which those looks are spread beyond that.
  package static let revalidationSpread: Int64 = 7200
  /// Calls to Apple that may wait for one account before a revocation is refused.
  package static let appleWorkOfAccount = 20
  /// Entries of the queue that one command shows.
  package static let appleWorkPage = 1000
  /// Identities that are read at a time while they go to another developer team.
  package static let transferPage = 256
  /// Seconds after the acceptance of a transfer in which people can be moved to the other team (TN3159).
  package static let transferSeconds: Int64 = 60 * 86_400
  /// Conflicts of a transfer that are shown one by one.
  package static let shownTransferConflicts = 100
  /// Secrets of Apple's that are given their team in one transaction.
  package static let adoptedSecrets = 1000
  /// Seconds for which an event for the app's back end is sent again and again.
  package static let webhookSeconds: Int64 = 259_200
  /// Seconds for which one that was given up is kept.
  package static let deadWebhookSeconds: Int64 = 2_592_000
  /// Events that one command shows.
  package static let webhookPage = 1000
  /// Bytes that a secret has at least by which events are signed.
  package static let webhookSecretBytes = 16
  /// Seconds after its `iat` for which a notification of Apple's is taken: it may come again, and late.
  package static let notificationSeconds: Int64 = 432_000
  /// Events of one notification.
  package static let notificationEvents = 100
  /// Bytes of the type of an event.
  package static let eventTypeBytes = 64
  /// Names of members that are kept of an event whose type is not known.
  package static let eventNames = 32
  /// Notifications with such events that are kept at a time, and the seconds for which each is.
  package static let keptNotifications = 1000
  package static let keptNotificationSeconds: Int64 = 7_776_000
}
