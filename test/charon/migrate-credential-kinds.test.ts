import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { toTimestamp } from '../../src-main/base/clock.ts';
import { silentLog } from '../../src-main/base/log.ts';
import { openCharon } from '../../src-main/charon/charon.ts';
import { charonMigrations } from '../../src-main/charon/migrations/list.ts';
import { markOf } from '../../src-main/charon/rules/act-of-power.ts';
import { formatAnchorLine } from '../../src-main/charon/rules/anchor-line.ts';
import { type AuditHead, emptyHead, nextEntry } from '../../src-main/charon/rules/audit-entry.ts';
import { updateAnchorState } from '../../src-main/charon/tables/anchor-state.ts';
import { insertAuditEntry, listAuditEntries } from '../../src-main/charon/tables/audit-entries.ts';
import { insertOpenIntent } from '../../src-main/charon/tables/open-intents.ts';
import { type Connection, connect } from '../../src-main/sqlite/driver.ts';
import { openStore } from '../../src-main/sqlite/open.ts';
import { fakeClock, seededIds } from '../support/history-builder.ts';
import { noStore, subject, testKeys } from './charon-world.ts';

const before = charonMigrations.slice(
  0,
  charonMigrations.findIndex(({ name }) => name === 'charon-0011-credential-kinds'),
);

/** A ledger as the version before wrote it: every bearer is an obol, and one intent has no outcome. */
function olderLedger(folder: string): void {
  const db = openStore(join(folder, 'charon.db'), before, fakeClock());
  const at = toTimestamp(fakeClock().nowMs());
  let head: AuditHead = emptyHead;
  let anchor = '';
  for (const [index, credentialId] of ['0123', 'oauth_0456', 'ltx_sub_0789', '0123'].entries()) {
    const phase = index === 3 ? ('intent' as const) : ('outcome' as const);
    const act = index === 1 ? { door: 'owner_socket' as const, objectIds: [markOf('off')] } : {};
    const asked = subject(`c${index}`, { credentialKind: 'obol', credentialId, ...act });
    const entry = nextEntry(
      head,
      { at, subject: asked, phase, outcome: phase === 'intent' ? '' : 'ok' },
      testKeys.ledger,
    );
    insertAuditEntry(db, entry);
    head = { seq: entry.seq, hash: entry.entry_hash };
    anchor += formatAnchorLine(head);
  }
  insertOpenIntent(db, 4, 'c3', 'k');
  db.exec('INSERT INTO audit_acts (seq) VALUES (2)');
  updateAnchorState(db, { bytes: anchor.length, lastSeq: head.seq });
  writeFileSync(join(folder, 'ledger.anchor'), anchor, { mode: 0o600 });
  db.close();
}

test('C170 a ledger of the version before keeps every entry, hash and MAC, and takes bearers by their own kind from then on', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'memory-git-kinds-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  olderLedger(folder);
  const path = join(folder, 'charon.db');
  const older = connect(path, { readOnly: false, mustExist: true });
  const stored = listAuditEntries(older, 10, undefined);
  const besides = schemaBesides(older);
  expect(besides.length).toBeGreaterThan(4);
  expect(() => insertAuditEntry(older, oauthAfter(stored[0]))).toThrow(/CHECK constraint failed/);
  older.close();

  const charon = await openCharon({
    ...{ path, anchorPath: join(folder, 'ledger.anchor'), readOnly: false, keys: testKeys, store: noStore },
    ...{ onEvents: () => undefined, log: silentLog, clock: fakeClock(), ids: seededIds('kinds') },
  });
  onTestFinished(() => charon.close());
  const entries = charon.audit.tail({ limit: 100 });
  expect(entries.filter(({ seq }) => seq <= 4)).toEqual(stored);
  for (const credentialKind of ['oauth', 'ltx'] as const)
    charon.audit.note(subject('new', { credentialKind, credentialId: 'x' }), 'ok');
  await charon.audit.flush();
  const kinds = charon.audit.tail({ limit: 2 }).map(({ credential_kind: kind }) => kind);
  expect(kinds).toEqual(['ltx', 'oauth']);
  expect(await charon.audit.verify()).toMatchObject({ ok: true, findings: [] });

  const db = connect(path, { readOnly: false, mustExist: true });
  onTestFinished(() => db.close());
  expect(db.query('PRAGMA foreign_key_check').all()).toEqual([]);
  expect(schemaBesides(db)).toEqual(besides);
  expect(db.query('SELECT seq FROM audit_open_intents').all()).toEqual([{ seq: 4 }]);
  expect(db.query('SELECT seq FROM audit_acts').all()).toEqual([{ seq: 2 }]);
  for (const refused of [
    "UPDATE audit_entries SET outcome = 'x' WHERE seq = 1",
    'DELETE FROM audit_entries WHERE seq = 1',
    'INSERT INTO audit_entries SELECT seq + 100, at, prev_hash, entry_hash, mac, mac_key_id, principal, credential_kind, credential_id, door, command, project, object_ids, request_digest, phase, outcome, correlation_id FROM audit_entries WHERE seq = 1',
    "INSERT INTO audit_open_intents (seq, correlation_id) VALUES (999, 'x')",
    'INSERT INTO audit_acts (seq) VALUES (999)',
  ])
    expect(() => db.exec(refused), refused).toThrow(/immutable|stays|follows|FOREIGN KEY/);
});

/** Tables, indexes and triggers of the ledger that are made anew beside its entries, and everything that refers to those. */
function schemaBesides(db: Connection): readonly string[] {
  return db
    .query<[], { sql: string }>(
      "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND (sql LIKE '%audit_%' OR tbl_name LIKE 'audit_%') AND NOT (type = 'table' AND name = 'audit_entries') ORDER BY name",
    )
    .all()
    .map(({ sql }) => sql.replaceAll(/\s+/g, ' '));
}

/** The next entry after one, of a kind that the version before did not know. */
function oauthAfter(last: { readonly seq: number; readonly entry_hash: string } | undefined) {
  const head = last === undefined ? emptyHead : { seq: last.seq, hash: last.entry_hash };
  const asked = subject('c9', { credentialKind: 'oauth', credentialId: 'x' });
  const at = toTimestamp(fakeClock().nowMs());
  return nextEntry(head, { at, subject: asked, phase: 'outcome', outcome: 'ok' }, testKeys.ledger);
}
