-- The move of an app to another developer team: people have other subjects there.

-- How far an identity has come; `transfer_team` is the team that it goes to. Without a state there is nothing else, and a
-- transfer subject was given with every state but one.
ALTER TABLE identities ADD COLUMN transfer_state TEXT
  CHECK (transfer_state IN ('exported', 'export_refused', 'rekeyed', 'import_refused', 'conflict'));
ALTER TABLE identities ADD COLUMN transfer_team TEXT
  CHECK ((transfer_state IS NULL) = (transfer_team IS NULL));
ALTER TABLE identities ADD COLUMN transfer_subject TEXT
  CHECK ((transfer_subject IS NULL) = (transfer_state IS NULL OR transfer_state = 'export_refused'));
-- Apple's word for a refusal, or the id of the account that has the new subject already.
ALTER TABLE identities ADD COLUMN transfer_detail TEXT;
ALTER TABLE identities ADD COLUMN transferred_at INTEGER
  CHECK ((transferred_at IS NULL) = (transfer_state IS NULL));
-- The subject at the team that the app came from.
ALTER TABLE identities ADD COLUMN former_subject TEXT;

-- Partial: nearly always there is no such identity.
CREATE UNIQUE INDEX identities_by_transfer ON identities (provider, transfer_subject)
  WHERE transfer_subject IS NOT NULL;
CREATE INDEX identities_by_former ON identities (provider, former_subject) WHERE former_subject IS NOT NULL;

-- The team whose key got a token, and whose client a call is about. A running service writes the present one to the rows
-- that are here already.
ALTER TABLE apple_grants ADD COLUMN team TEXT;
ALTER TABLE apple_work ADD COLUMN team TEXT;
CREATE INDEX apple_grants_without_team ON apple_grants (id) WHERE team IS NULL;
CREATE INDEX apple_work_without_team ON apple_work (id) WHERE team IS NULL;

PRAGMA user_version = 7;
