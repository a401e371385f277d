import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connect } from '../../src-main/sqlite/driver.ts';
import { openTempLethe, projectId, type TempLethe } from '../support/history-builder.ts';
import { addedMemory, fillHistory, makeReferenceFile } from '../support/reference-files.ts';
import {
  fillSessions,
  openReferenceGit,
  openReferenceSessions,
  referenceHistory,
  referenceId,
} from '../support/reference-stores.ts';
import { tempFolder } from '../support/temp-home.ts';
import { expectRefused } from '../support/untouched.ts';

/** Nothing is ever written to it, but by the last test. */
let temp: TempLethe;
let sound: string;
beforeAll(() => {
  temp = openTempLethe();
  sound = join(mkdtempSync(join(tmpdir(), 'memory-git-reference-')), 'sound.db');
  const store = openReferenceGit(sound);
  fillSessions(store, 'demo');
  fillHistory(referenceHistory(store));
  store.close();
});
afterAll(() => {
  temp.remove();
  rmSync(dirname(sound), { recursive: true });
});

const refusal = (reason: string | RegExp) => ({
  code: 'IMPORT_REFUSED',
  message: expect.stringMatching(/^The file is not imported: .*\. Nothing was written\.$/s),
  data: { reason: expect.stringMatching(reason) },
});

const expectFileRefused = (path: string, reason: string | RegExp): Promise<void> =>
  expectRefused(temp.db, temp.lethe.inspectImport({ path }), refusal(reason));

/** A copy of a sound file of 0.4 with sessions, history and records, changed by one statement. */
function changed(sql: string): string {
  const path = join(tempFolder(), 'changed.db');
  copyFileSync(sound, path);
  const db = connect(path, { readOnly: false, mustExist: true });
  db.pragma('foreign_keys = ON');
  db.exec(sql);
  db.close();
  return path;
}

test('L262 the sound file that the others here are made of is taken', async () => {
  expect(await temp.lethe.inspectImport({ path: changed('SELECT 1') })).toMatchObject({
    isEmpty: false,
    projects: [{ mode: 'whole', newChangesets: 4, newEvents: 5 }],
  });
});

describe('the file itself', () => {
  test('L263 anything but a regular file is refused', async () => {
    const folder = tempFolder();
    mkdirSync(join(folder, 'a-folder'));
    await expectFileRefused(join(folder, 'nothing'), /there is no such file/);
    await expectFileRefused(join(folder, 'a-folder'), /no regular file/);
    await expectFileRefused('/dev/null', /no regular file/);
  });

  test('L263 a file with a rollback journal beside it, or larger than is allowed, is refused', async () => {
    const path = changed('SELECT 1');
    writeFileSync(`${path}-journal`, 'not played back');
    await expectFileRefused(path, /rollback journal/);
    const large = join(tempFolder(), 'large.db');
    writeFileSync(large, '');
    truncateSync(large, 1_073_741_825);
    await expectFileRefused(large, /larger than 1073741824 bytes/);
  });

  test('L263 what stands in the write-ahead log alone is read', async () => {
    const path = join(tempFolder(), 'reference.db');
    const store = openReferenceSessions(path);
    store.db.pragma('wal_autocheckpoint = 0');
    fillSessions(store);
    expect(await temp.lethe.inspectImport({ path })).toMatchObject({ newSessionRows: 8 });
    store.close();
  });

  test('L262 a file that is no database, is cut off or has a damaged page is refused', async () => {
    const noise = join(tempFolder(), 'noise.db');
    writeFileSync(noise, 'x'.repeat(8_192));
    await expectFileRefused(noise, /damaged, or no SQLite database/);
    const cut = changed('SELECT 1');
    truncateSync(cut, 40_960);
    await expectFileRefused(cut, /damaged/);
    const bent = changed('PRAGMA wal_checkpoint(TRUNCATE)');
    const bytes = readFileSync(bent);
    for (let page = 3; page < bytes.length / 4_096; page += 2) bytes.fill(0xa5, page * 4_096, page * 4_096 + 64);
    writeFileSync(bent, bytes);
    await expectFileRefused(bent, /damaged/);
  });
});

describe('its schema', () => {
  test.each([
    ['a view', 'CREATE VIEW v AS SELECT * FROM events', /it has a view/],
    [
      'a view in the place of a table',
      'ALTER TABLE agents RENAME TO a; CREATE VIEW agents AS SELECT * FROM a',
      /it has a view/,
    ],
    ['a trigger', 'CREATE TRIGGER t AFTER INSERT ON events BEGIN SELECT 1; END', /it has a trigger/],
    ['a virtual table', 'CREATE VIRTUAL TABLE f USING fts5 (x)', /it has a virtual table/],
    ['a computed column', 'ALTER TABLE events ADD COLUMN c TEXT AS (upper(content))', /it has a computed column/],
    ['an index over an expression', 'CREATE INDEX i ON events (upper(content))', /it has an index over an expression/],
    ['a column too many', 'ALTER TABLE memory_refs ADD COLUMN c TEXT', /memory_refs has a column/],
    ['a column too few', 'ALTER TABLE events DROP COLUMN reviewer_id', /events has no column reviewer_id/],
    ['a table too few', 'DROP TABLE memory_manifests', /it has no table memory_manifests/],
    ['an unknown migration', "INSERT INTO schema_versions VALUES ('014_new.sql', NULL)", /newer version/],
    [
      'a missing migration',
      "DELETE FROM schema_versions WHERE name = '005_add_threads.sql'",
      /older than version 0\.3/,
    ],
  ])('L262 %s is refused', async (_, sql, reason) => {
    await expectFileRefused(changed(sql), reason);
  });

  test('L262 a table under another key than its own is refused', async () => {
    const sql = 'ALTER TABLE agents RENAME TO a; CREATE TABLE agents AS SELECT * FROM a';
    await expectFileRefused(changed(sql), /agents has another primary key/);
  });

  test('L262 tables that no reference database has are not looked at', async () => {
    const plan = await temp.lethe.inspectImport({
      path: changed("CREATE TABLE other (x); INSERT INTO other VALUES ('y')"),
    });
    expect(plan.projects).toMatchObject([{ mode: 'whole' }]);
  });

  test('L262 a database of this product, or of another one, is no reference database', async () => {
    const own = openTempLethe();
    await own.lethe.initProject({ projectId: projectId('demo'), principal: 'p' });
    await expectFileRefused(own.path, /trigger|virtual table/);
    own.remove();
    const other = join(tempFolder(), 'other.db');
    const db = connect(other, { readOnly: false, mustExist: false });
    db.exec('CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)');
    db.close();
    await expectFileRefused(other, /it has no table schema_versions/);
  });

  test('L262 a history that is older than some of its tables is read without them', async () => {
    const drops = ['memory_legacy_baselines', 'memory_protected_ref_advances', 'memory_merge_authorizations'];
    const path = changed(
      `${drops.map((name) => `DROP TABLE ${name}`).join('; ')}; ALTER TABLE memory_conflicts DROP COLUMN proposal_id;
       ALTER TABLE memory_changesets DROP COLUMN request_digest; DELETE FROM schema_versions WHERE name > '009_z'`,
    );
    expect(await temp.lethe.inspectImport({ path })).toMatchObject({ projects: [{ newChangesets: 4 }] });
  });
});

const large = (bytes: number): string => 'x'.repeat(bytes);

describe('its values', () => {
  test.each([
    [
      'a text that is a blob',
      "UPDATE events SET content = x'00ff' WHERE event_id = 'event-1'",
      /^events "event-1": content is not a text/,
    ],
    [
      'a number that is a text',
      "UPDATE checkpoints SET seq = 'one'",
      /^checkpoints "checkpoint-1": seq is not a whole number/,
    ],
    [
      'a moment that is none',
      "UPDATE threads SET created_at = '2026-02-30 00:00:00'",
      /^threads "thread-1": created_at is not a moment/,
    ],
    [
      'a content over its bound',
      `UPDATE events SET content = '${large(16_385)}' WHERE event_id = 'event-2'`,
      /^events "event-2": a value is larger/,
    ],
    [
      'an id that is null',
      "INSERT INTO agents (agent_id, name) VALUES (NULL, 'n')",
      /agents has rows without a usable agent_id/,
    ],
    [
      'an id that is empty',
      "INSERT INTO agents (agent_id, name) VALUES ('', 'n')",
      /agents has rows without a usable agent_id/,
    ],
    [
      'a project that can be none here',
      "INSERT INTO projects (project_id, name) VALUES ('*', 'n')",
      /^projects "\*": project_id/,
    ],
    [
      'a confidence above 1',
      'PRAGMA ignore_check_constraints = ON; UPDATE events SET confidence = 2',
      /^events "event-1": confidence/,
    ],
    [
      'an event type of its own',
      "PRAGMA ignore_check_constraints = ON; UPDATE events SET event_type = 'x'",
      /event_type/,
    ],
    [
      'a parent that is not there',
      "PRAGMA foreign_keys = OFF; UPDATE events SET parent_event_id = 'no' WHERE event_id = 'event-3'",
      /^events "event-3": its parent_event_id/,
    ],
    [
      'a circle of parents',
      "UPDATE events SET parent_event_id = 'event-2' WHERE event_id = 'event-1'",
      /its own ancestor/,
    ],
    ['a session of nobody', 'PRAGMA foreign_keys = OFF; DELETE FROM agents', /agent_id names nothing in the file/],
    ['a snapshot that is no JSON', "UPDATE checkpoints SET snapshot = '{'", /snapshot is no JSON/],
    [
      'a snapshot too deep',
      `UPDATE checkpoints SET snapshot = '${'['.repeat(65)}${']'.repeat(65)}'`,
      /snapshot is no JSON/,
    ],
    [
      'a session key twice',
      "DROP INDEX sessions_by_key; UPDATE sessions SET session_key = 'same'",
      /session_key is that of another/,
    ],
  ])('L264 %s is refused, named', async (_, sql, reason) => {
    await expectFileRefused(changed(sql), reason);
  });
});

test('L264 a conflict from before conflicts had an identity keeps the id that it was given', async () => {
  const id = referenceId('conflict', 1);
  const sql = `UPDATE memory_conflicts SET conflict_id = '${id}'`;
  await expectFileRefused(changed(sql), /conflict_id is not that of what it says/);
  const path = changed(`${sql}, proposal_id = NULL`);
  expect(await temp.lethe.inspectImport({ path })).toMatchObject({ newRecords: 8 });
});

describe('its history', () => {
  const head = "(SELECT head_changeset_id FROM memory_refs WHERE ref_name = 'refs/shared/main')";
  test.each([
    [
      'a message',
      "UPDATE memory_changesets SET message = 'other' WHERE message = 'step 2'",
      /integrity_digest is not that of its content/,
    ],
    [
      'a payload',
      `UPDATE memory_changeset_ops SET payload_json = '{"content":"other"}' WHERE changeset_id = ${head}`,
      /integrity_digest/,
    ],
    [
      'the order of parents',
      `UPDATE memory_changesets SET parent_ids_json = (SELECT json_group_array(value) FROM (SELECT value FROM json_each(parent_ids_json) ORDER BY key DESC)) WHERE changeset_id = ${head}`,
      /integrity_digest/,
    ],
    [
      'an id',
      "PRAGMA foreign_keys = OFF; UPDATE memory_changesets SET changeset_id = 'X' WHERE message = 'step 2'",
      /changeset_id is no UUID/,
    ],
    [
      'a project',
      "PRAGMA foreign_keys = OFF; UPDATE memory_changesets SET project_id = 'other' WHERE message = 'step 2'",
      /integrity_digest/,
    ],
    ['an op type', "UPDATE memory_changeset_ops SET op_type = 'drop'", /op_type is not one of the known ones/],
    ['an ordinal', 'UPDATE memory_changeset_ops SET ordinal = 1', /not numbered from 0/],
    [
      'a payload that is no object',
      "UPDATE memory_changeset_ops SET payload_json = '[]'",
      /payload_json is no JSON object/,
    ],
    [
      'a payload over its bound',
      `UPDATE memory_changeset_ops SET payload_json = '{"content":"${large(65_536)}"}'`,
      /a value is larger/,
    ],
    [
      'an op of no changeset',
      "PRAGMA foreign_keys = OFF; INSERT INTO memory_changeset_ops VALUES ('none', 0, 'add_memory', NULL, NULL, '{}')",
      /ops of no changeset/,
    ],
    [
      'a head that is not there',
      "PRAGMA foreign_keys = OFF; UPDATE memory_refs SET head_changeset_id = 'none' WHERE ref_name = 'refs/agents/a/main'",
      /^memory_refs "demo", "refs\/agents\/a\/main": its head/,
    ],
    [
      'a ref that is protected by no name of ours',
      "UPDATE memory_refs SET protected = 1 WHERE ref_name = 'refs/agents/a/main'",
      /only refs under refs\/shared\/ are/,
    ],
    ['a conflict', "UPDATE memory_conflicts SET details_json = '{}'", /conflict_id is not that of what it says/],
    [
      'a manifest of no head',
      "UPDATE memory_manifests SET head_changeset_id = 'none'",
      /^memory_manifests .*: its head/,
    ],
    [
      'an advance',
      "UPDATE memory_protected_ref_advances SET reviewer_principal = 'other'",
      /its authorization says another reviewer_principal/,
    ],
    [
      'a head that no advance led to',
      "UPDATE memory_refs SET head_changeset_id = (SELECT head_changeset_id FROM memory_refs WHERE ref_name = 'refs/agents/a/main') WHERE ref_name = 'refs/shared/main'",
      /it is the last of its ref, which stands elsewhere/,
    ],
    [
      'an advance that is missing',
      `DELETE FROM memory_protected_ref_advances WHERE new_head = ${head}`,
      /it is the last of its ref/,
    ],
    [
      'a nonce',
      "PRAGMA foreign_keys = OFF; UPDATE memory_merge_authorizations SET nonce = 'x' || substr(nonce, 2)",
      /nonce is no nonce/,
    ],
    [
      'a baseline of another root',
      `UPDATE memory_legacy_baselines SET root_changeset_id = ${head}`,
      /is not the root of its project/,
    ],
    [
      'a baseline that is no list',
      "UPDATE memory_legacy_baselines SET event_ids_json = '[1]'",
      /no JSON list of different event ids/,
    ],
  ])('L264 an altered history is refused: %s', async (_, sql, reason) => {
    await expectFileRefused(changed(sql), reason);
  });

  const withChangeset = (
    more: (root: string) => Parameters<ReturnType<typeof referenceHistory>['commit']>[0],
  ): string =>
    makeReferenceFile(openReferenceGit, (store) => {
      const history = referenceHistory(store);
      history.commit(more(history.root));
    });

  test('L264 what this store cannot hold is refused, though its digests hold', async () => {
    const ref = 'refs/agents/a/main';
    const ops = [addedMemory('x')];
    const none = referenceId('nobody', 1);
    const cases: readonly (readonly [Parameters<typeof withChangeset>[0], RegExp])[] = [
      [(root) => ({ ref, parents: [root, root], ops }), /names the same parent twice/],
      [(root) => ({ ref, parents: [root, none, referenceId('nobody', 2)], ops }), /more than 2 parents/],
      [() => ({ ref, parents: [none], ops }), /a parent of it is not in the file/],
      [(root) => ({ ref, parents: [root], ops, evidence: [null] }), /evidence_json\[0\] is no JSON object/],
      [
        (root) => ({
          ref,
          parents: [root],
          ops: [{ op_type: 'correct_memory', target_event_id: 'a', payload: { restores: root } }],
        }),
        /payload field "restores" is not supported/,
      ],
      [
        (root) => ({ ref, parents: [root], ops: [{ op_type: 'add_memory', payload: { content: 'x', rank: 1 } }] }),
        /payload field "rank" is not supported/,
      ],
      [
        (root) => ({ ref, parents: [root], ops, more: { idempotency_key: 'legacy-root' } }),
        /bears the key of the root/,
      ],
    ];
    for (const [more, reason] of cases) await expectFileRefused(withChangeset(more), reason);
  });

  test('L264 a digest of the first algorithm is no digest once its migration was applied', async () => {
    const path = makeReferenceFile(openReferenceGit, (store) => {
      const { root, commit } = referenceHistory(store);
      const ref = 'refs/agents/a/main';
      const sides = ['one', 'two'].map((content) => commit({ ref, parents: [root], ops: [addedMemory(content)] }));
      commit({ ref, parents: sides.toSorted().toReversed(), ops: [], isFirst: true });
    });
    await expectFileRefused(path, /integrity_digest is not that of its content/);
  });

  test('L264 a changeset that is here and says something else refuses the file', async () => {
    const make = (content: string): string =>
      makeReferenceFile(openReferenceGit, (store) => {
        const history = referenceHistory(store);
        history.commit({ ref: 'refs/agents/a/main', parents: [history.root], ops: [addedMemory(content)] });
      });
    const first = make('one');
    const { contentDigest } = await temp.lethe.inspectImport({ path: first });
    await temp.lethe.importFile({ path: first, contentDigest, principal: 'p' });
    await expectFileRefused(make('two'), /it is here already and says something else/);
  });
});
