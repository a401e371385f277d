import { rmSync, writeFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { amendmentText } from '../../src-main/canonical/consolidation.ts';
import { createSigner } from '../../src-main/canonical/signature.ts';
import { verifyLedger } from '../../src-main/ledger/verify-ledger.ts';
import { connect } from '../../src-main/sqlite/driver.ts';
import { timestampSchema } from '../../src-preload/contract/ids.ts';
import { agent, key, openTempLedger, other, type TempLedger } from './temp-ledger.ts';

let temp: TempLedger;
beforeEach(async () => {
  temp = openTempLedger();
  await temp.put('a', { word: 'lighthouse' }, { importance: 'high', source: 'unit', confidence: 0.5 });
  await temp.put('a', 2, { ttl: 5, derivedFrom: { start_version: 1, end_version: 1 } });
  temp.clock.advance(5_000);
  await temp.maintain();
  await temp.put('b', 'three');
  await temp.remove('b');
  await temp.put('b', 'five', { agentId: other });
  await temp.put('c', 'live');
  await temp.ledger.openCustody(agent, 'owner');
  const signer = createSigner(Buffer.alloc(32, 7));
  const amendment = {
    challengeId: 'c',
    challengeNonce: 'n',
    templateId: 'consolidation-v1',
    params: { schema_version: 1, compression: {}, weighting: {}, fade_rules: {}, declared_at: '2026-09-11T00:00:00Z' },
    issuedAt: timestampSchema.parse('2026-09-11T00:00:00Z'),
    expiresAt: timestampSchema.parse('2026-09-11T00:01:00Z'),
  };
  const signature = Buffer.from(signer.sign(amendmentText(amendment)), 'base64url').toString('base64');
  await temp.ledger.appendPolicy({ agentId: agent, ...amendment, publicKey: signer.publicKey, signature });
  await temp.maintain();
});
afterEach(() => temp.discard());

/** What verification says of a copy that another program changed, past the triggers and the checks of the schema. */
async function problemsAfter(...statements: readonly string[]): Promise<string> {
  const path = `${temp.path}-copy`;
  const source = new Database(temp.path, { readonly: true });
  writeFileSync(path, source.serialize());
  source.close();
  alter(path, statements);
  const copy = connect(path, { readOnly: true, mustExist: true });
  try {
    const { report } = await verifyLedger((chunk) => chunk(copy));
    expect(report.ok).toBe(report.findings.length === 0);
    return report.findings.map(({ where, problem }) => `${where}: ${problem}`).join('\n');
  } finally {
    copy.close();
    rmSync(path);
  }
}

function alter(path: string, statements: readonly string[]): void {
  const raw = new Database(path);
  raw.pragma('journal_mode = DELETE');
  raw.pragma('foreign_keys = OFF');
  raw.pragma('ignore_check_constraints = ON');
  const triggers = raw
    .prepare<[], { name: string }>("SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name LIKE 'ledger_%'")
    .all();
  for (const { name } of triggers) raw.exec(`DROP TRIGGER ${name}`);
  for (const statement of statements) raw.exec(statement);
  raw.close();
}

test('G50 a ledger that holds is verified row by row, and tells how far it is', async () => {
  const heard: string[] = [];
  const report = await temp.ledger.verify((done, total) => heard.push(`${done}/${total}`));
  expect(report).toMatchObject({ ok: true, checked: 7, findings: [], notes: [] });
  expect(report.head).toMatch(/^[0-9a-f]{64}$/);
  expect(heard.at(-1)).toBe('7/7');
  await temp.put('c', 'more');
  expect((await temp.ledger.verify()).head).not.toBe(report.head);
});

test('G50 verification sees one state, whatever is written meanwhile', async () => {
  for (let number = 0; number < 60; number += 1) await temp.put(`k${number}`, number);
  const verifying = temp.ledger.verify();
  await Promise.all(Array.from({ length: 20 }, (_, number) => temp.put('k1', number)));
  expect(await verifying).toMatchObject({ ok: true, checked: 67 });
});

test.each([
  'ledger_agents',
  'ledger_versions',
  'ledger_values',
  'ledger_policies',
  'ledger_custody',
  'ledger_heads',
  'ledger_totals',
  'ledger_live_totals',
])('G50 G52 G53 no column of %s can be changed without being named', async (table) => {
  const columns = temp.db.query<[], { name: string }>(`SELECT name FROM pragma_table_info('${table}')`).all();
  const rows = temp.db.query<[], { count: number }>(`SELECT count(*) AS count FROM ${table}`).get()?.count ?? 0;
  const key = table === 'ledger_live_totals' ? 'agent, importance' : 'rowid';
  expect(await problemsAfter()).toBe('');
  for (const { name } of columns)
    for (const place of table === 'ledger_versions' ? [1, rows - 1] : [rows - 1]) {
      const which = `(${key}) IN (SELECT ${key} FROM ${table} LIMIT 1 OFFSET ${place})`;
      const change = `CASE typeof(${name}) WHEN 'text' THEN ${name} || 'x' ELSE coalesce(${name}, 0) + 1000 END`;
      const found = await problemsAfter(`UPDATE ${table} SET ${name} = ${change} WHERE ${which}`);
      expect(found, `${name} of row ${place}`).not.toBe('');
    }
});

test.each([
  ['a row in the middle', 'DELETE FROM ledger_versions WHERE seq = 2', 'it is missing'],
  ['the newest row', 'DELETE FROM ledger_versions WHERE seq = 7', 'the head of c'],
  ['a value', 'DELETE FROM ledger_values WHERE seq = 1', 'its value is not what it says of it'],
  ['a head', "DELETE FROM ledger_heads WHERE key = 'c'", 'the heads of keys'],
  ['a policy', 'DELETE FROM ledger_policies', 'its totals are not those of its history'],
  ['a step of custody', 'DELETE FROM ledger_custody', 'its totals are not those of its history'],
  ['the totals', 'DELETE FROM ledger_totals', 'its totals are not those of its history'],
  ['an agent', 'DELETE FROM ledger_agents WHERE agent = 2', 'it has a history and no id'],
])('G50 G53 %s that is gone is named', async (_, statement, said) => {
  expect(await problemsAfter(statement)).toContain(said);
});

test('G51 a value can be taken out, once and for good, and everything still verifies', async () => {
  await temp.put('c', 'later');
  expect(() => temp.db.exec("UPDATE ledger_values SET body = 'x' WHERE seq = 7")).toThrow(/only ever taken out/);
  expect(() => temp.db.exec('DELETE FROM ledger_values WHERE seq = 7')).toThrow(/immutable/);
  temp.db.exec('UPDATE ledger_values SET body = NULL, redacted_ms = 1 WHERE seq = 7');
  expect(() => temp.db.exec("UPDATE ledger_values SET body = 'x', redacted_ms = NULL WHERE seq = 7")).toThrow(/once/);
  expect(await problemsAfter()).toBe('');
  const point = { version: 1 };
  expect(temp.ledger.valueAt({ agentId: agent, key: key('c'), point })).toMatchObject({
    kind: 'absent',
    reason: 'redacted',
  });
  const { versions } = temp.ledger.history({ agentId: agent, key: key('c'), limit: 5 });
  expect(versions.map((version) => version.kind === 'put' && version.redacted)).toEqual([false, true]);
});

test.each(['ledger_versions', 'ledger_agents'])('G12 no row of %s can be changed or deleted', (table) => {
  expect(() => temp.db.exec(`UPDATE ${table} SET agent = agent`)).toThrow(/immutable/);
  expect(() => temp.db.exec(`DELETE FROM ${table}`)).toThrow(/immutable/);
  expect(() => temp.db.exec(`REPLACE INTO ${table} SELECT * FROM ${table} LIMIT 1`)).toThrow(/immutable/);
});

test('G7 a value that is not what its digest says is never answered', () => {
  temp.db.exec(`DROP TRIGGER ledger_values_only_redact; UPDATE ledger_values SET body = '"love"' WHERE seq = 7`);
  const mismatch = expect.objectContaining({ code: 'INTEGRITY_MISMATCH' });
  expect(() => temp.ledger.get(agent, key('c'))).toThrow(mismatch);
  expect(() => temp.ledger.context({ agentId: agent, limit: 5 })).toThrow(mismatch);
  expect(() => temp.ledger.search({ agentId: agent, query: 'live', limit: 5, threshold: 0 })).toThrow(mismatch);
});

test.each([
  ['a token is missing', "INSERT INTO ledger_text (ledger_text) VALUES ('delete-all')"],
  ['a value is missing', 'DELETE FROM ledger_text WHERE rowid = 7'],
  [
    'a value has other tokens',
    "DELETE FROM ledger_text WHERE rowid = 7; INSERT INTO ledger_text (rowid, tokens) VALUES (7, '1wother')",
  ],
])('G54 %s in the search index: it is named, and mended by making the index anew', async (_, statement) => {
  expect((await temp.ledger.verify()).ok).toBe(true);
  temp.db.exec(statement);
  const report = await temp.ledger.verify();
  expect(report.ok).toBe(false);
  for (const { where } of report.findings) expect(where).toBe('the search index');
  await temp.maintain();
  expect(await temp.ledger.verify()).toMatchObject({ ok: true });
  expect(temp.ledger.search({ agentId: agent, query: 'live', limit: 5, threshold: 0.7 })).toHaveLength(1);
});

test('G54 an index that cannot be asked is named', async () => {
  const raw = new Database(temp.path);
  raw.unsafeMode(true);
  raw.exec('DELETE FROM ledger_text_data WHERE id > 10');
  raw.close();
  expect((await temp.ledger.verify()).findings[0]?.where).toBe('the search index');
  await temp.maintain();
  expect(await temp.ledger.verify()).toMatchObject({ ok: true });
});

test('G54 more tokens than one chunk reads are compared to the last', async () => {
  for (let number = 0; number < 120; number += 1)
    await temp.put(
      `n${number}`,
      Array.from({ length: 40 }, (_, index) => `word${(index * 7 + number) % 90}`),
    );
  await temp.maintain();
  expect(await temp.ledger.verify()).toMatchObject({ ok: true, findings: [] });
  expect(
    temp.db.query<[], { count: number }>('SELECT count(*) AS count FROM ledger_text_terms').get()?.count,
  ).toBeGreaterThan(6_000);
});
