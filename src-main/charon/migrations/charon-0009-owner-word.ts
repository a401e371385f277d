import type { Migration } from '../../sqlite/migrate.ts';

/**
 * Acts of power outside the desk (`charon.md` §8): which entries of the ledger they are, so that listing them costs what is
 * listed, and how many wrong passphrases were typed in a row. What was recorded before has no mark and is not listed.
 */
export const charon0009OwnerWord: Migration = {
  name: 'charon-0009-owner-word',
  sql: `
CREATE TABLE audit_acts (
  seq INTEGER PRIMARY KEY REFERENCES audit_entries (seq)
) STRICT;
CREATE TRIGGER audit_acts_are_immutable BEFORE UPDATE ON audit_acts BEGIN SELECT RAISE(ABORT, 'an act of power is immutable'); END;
CREATE TRIGGER audit_acts_stay BEFORE DELETE ON audit_acts BEGIN SELECT RAISE(ABORT, 'an act of power stays'); END;

CREATE TABLE wrong_passphrases (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  in_a_row INTEGER NOT NULL CHECK (in_a_row >= 0),
  last_ms INTEGER NOT NULL CHECK (last_ms >= 0)
) STRICT;
INSERT INTO wrong_passphrases (one, in_a_row, last_ms) VALUES (1, 0, 0);
`,
};
