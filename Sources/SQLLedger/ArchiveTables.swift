package import Storage

extension ArchiveTable {
  /// Changes whenever the tables or their columns do.
  package static let format: Int64 = 1

  /// What makes up a database, in an order in which rows can be written. Leases and the pulse belong to running nodes.
  /// The audit comes first and the signing keys last: lines that were written during an export tell of it, and what has no
  /// signing keys yet is not worked with.
  package static let all: [ArchiveTable] =
    [audit, auditSeals] + people + [imports] + history + apple + [signingKeys]

  package static let audit = ArchiveTable(
    "audit",
    [
      .number("position"), .number("at"), .text("action"), .text("actor"), .text("account"),
      .bytes("session"),
      .bytes("address"), .text("request_id"), .text("detail"), .bytes("digest"),
    ])

  package static let auditSeals = ArchiveTable(
    "audit_seals",
    [.text("name"), .number("position"), .bytes("digest"), .bytes("code"), .bytes("master_key")])

  package static let signingKeys = ArchiveTable(
    "signing_keys",
    [
      .number("position"), .text("id"), .text("algorithm"), .text("role"), .number("created_at"),
      .number("active_since"), .number("retired_at"), .bytes("sealed"), .bytes("master_key"),
      .text("certificate"), .number("is_to_retire"), .number("longest_lifetime"), .number("cookies_until"),
    ])

  private static let people = [
    ArchiveTable(
      "accounts",
      [
        .number("number"), .text("id"), .number("created_at"), .number("last_sign_in_at"),
        .number("is_disabled"), .text("email"), .number("is_email_verified"), .number("is_private_email"),
        .number("real_user_status"), .text("given_name"), .text("family_name"), .text("middle_name"),
        .text("name_prefix"), .text("name_suffix"), .text("nickname"), .number("is_anonymous"),
        .text("email_origin"), .text("chosen_name"), .text("photo_url"), .text("custom_claims"),
        .number("valid_since"), .number("apple_sign_in_at"),
      ]),
    ArchiveTable(
      "identities", keyLength: 2,
      [
        .text("provider"), .text("subject"), .number("account"), .text("email"), .text("display_name"),
        .text("photo_url"), .text("credential_state"), .text("client_id"), .number("is_email_deliverable"),
        .number("email_changed_at"), .text("transfer_state"), .text("transfer_team"),
        .text("transfer_subject"), .text("transfer_detail"), .number("transferred_at"),
        .text("former_subject"),
      ]),
    ArchiveTable(
      "sessions",
      [
        .bytes("id"), .text("account"), .text("provider"), .number("created_at"), .number("counter"),
        .bytes("master_key"), .number("rotated_at"), .number("late_rotations"), .number("is_late"),
        .text("ended_as"), .number("ended_at"), .text("device_name"), .text("device_model"),
        .text("device_os"), .text("app_version"), .text("custom_claims"), .number("ordinal"),
      ]),
    ArchiveTable(
      "spent_credentials", keyLength: 2,
      [
        .number("stamp"), .bytes("digest"), .number("expires_at"), .number("used_at"), .bytes("session"),
        .number("is_new_user"), .text("link_target"), .number("is_final"),
      ]),
  ]

  private static let imports = ArchiveTable(
    "imported_accounts", [.number("account"), .number("imported_at")])

  private static let history = [
    ArchiveTable(
      "revocations",
      [
        .number("position"), .text("kind"), .text("account"), .bytes("session"), .number("at"),
        .number("until"),
      ]),
    ArchiveTable(
      "webhook_events",
      [
        .number("position"), .text("id"), .text("kind"), .text("account"), .text("provider"), .text("cause"),
        .number("created_at"), .number("due_at"), .number("gives_up_at"), .number("attempts"),
        .text("fault"), .number("dead_at"),
      ]),
  ]

  private static let apple = [
    ArchiveTable(
      "apple_grants", keyLength: 2,
      [
        .text("subject"), .text("client_id"), .bytes("id"), .text("account"), .bytes("sealed"),
        .bytes("master_key"), .number("obtained_at"), .number("checked_at"), .number("due_at"),
        .text("team"),
      ]),
    ArchiveTable(
      "apple_work",
      [
        .bytes("id"), .text("kind"), .text("secret"), .bytes("sealed"), .bytes("master_key"),
        .text("account"), .text("subject"), .text("client_id"), .text("redirect_uri"),
        .number("created_at"), .number("due_at"), .number("attempts"), .text("fault"), .number("is_sent"),
        .text("team"), .number("is_brought"),
      ]),
    ArchiveTable(
      "apple_notifications",
      [.bytes("digest"), .number("received_at"), .number("expires_at"), .text("unknown")]),
  ]
}
