import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Fault } from '../../src-main/base/fault.ts';
import { silentLog } from '../../src-main/base/log.ts';
import type { AuditSubject } from '../../src-main/charon/api.ts';
import { openCharon } from '../../src-main/charon/charon.ts';
import { charonMigrations } from '../../src-main/charon/migrations/list.ts';
import { nextEntry } from '../../src-main/charon/rules/audit-entry.ts';
import { passphraseWaitMs } from '../../src-main/charon/rules/passphrase-wait.ts';
import { auditHead, insertAuditEntry } from '../../src-main/charon/tables/audit-entries.ts';
import { insertHome } from '../../src-main/charon/tables/home.ts';
import { openStore } from '../../src-main/sqlite/open.ts';
import { timestampSchema } from '../../src-preload/contract/ids.ts';
import { fakeClock, seededIds } from '../support/history-builder.ts';
import { type CharonWorld, codeOf, noStore, openWorld, subject, testKeys } from './charon-world.ts';

let world: CharonWorld;
beforeEach(async () => {
  world = await openWorld();
});
afterEach(() => world.remove());

let requests = 0;
const subjectOf = (more: Parameters<typeof subject>[1]) => {
  requests += 1;
  return subject(`request-${requests}`, more);
};

const passphrase = 'correct horse battery';
/** A cheap scrypt: what it costs is no part of what is tested here. */
const cheap = { n: 1_024, r: 8, p: 1 };

test('C160 acts of power are confirmed by nothing until it is set; of a passphrase only a scrypt hash is kept', async () => {
  const { word } = world.charon;
  expect(word.confirmation()).toEqual({ kind: 'off' });
  expect(await codeOf(word.isPassphrase(passphrase))).toBe('CONFIRMATION_UNVERIFIED');
  expect(await codeOf(word.setConfirmation('passphrase', 'elf letters', cheap))).toBe('INPUT_INVALID');
  expect(await codeOf(word.setConfirmation('off', passphrase, cheap))).toBe('INPUT_INVALID');
  await word.setConfirmation('passphrase', passphrase, cheap);
  expect(world.events.at(-1)).toEqual({ kind: 'owner_requests_changed' });
  const keys = {
    ...{ ...testKeys, ledger: { id: 'ledger-2', key: testKeys.oauth } },
    earlierLedgers: new Map([['ledger-1', testKeys.ledger.key]]),
  };
  world = await world.reopen({ keys, readOnly: true });
  expect(world.charon.word.confirmation()).toEqual({ kind: 'passphrase' });
  world = await world.reopen({ keys, readOnly: false });
  const { word: later } = world.charon;
  expect(later.confirmation()).toEqual({ kind: 'passphrase' });
  expect(await later.isPassphrase(passphrase)).toBe(true);
  expect(await later.isPassphrase(`${passphrase} `)).toBe(false);
  expect(readFileSync(world.path, 'latin1')).not.toContain(passphrase);
  expect(readFileSync(`${world.path}-wal`, 'latin1')).not.toContain(passphrase);
  await later.setConfirmation('off', undefined);
  expect(later.confirmation()).toEqual({ kind: 'off' });
});

test.each([
  ["UPDATE settings SET value = 'off' WHERE name = 'owner_confirm'"],
  ["UPDATE settings SET mac = replace(mac, substr(mac, 1, 1), 'g') WHERE name = 'owner_confirm'"],
  ["UPDATE settings SET mac_key_id = 'other' WHERE name = 'owner_confirm'"],
])('C160 what does not carry the MAC of the ledger counts as a passphrase that nobody knows: %s', async (sql) => {
  await world.charon.word.setConfirmation('passphrase', passphrase, cheap);
  world.withDb((db) => db.exec(sql));
  expect(world.charon.word.confirmation()).toEqual({ kind: 'unverified' });
  expect(await codeOf(world.charon.word.isPassphrase(passphrase))).toBe('CONFIRMATION_UNVERIFIED');
  await world.charon.word.setConfirmation('off', undefined);
  expect(world.charon.word.confirmation()).toEqual({ kind: 'off' });
});

test('C161 from the fifth wrong passphrase on each makes the next wait, also over a restart; a right one begins anew', async () => {
  await world.charon.word.setConfirmation('passphrase', passphrase, cheap);
  for (let wrong = 0; wrong < 5; wrong += 1) expect(await world.charon.word.isPassphrase('wrong')).toBe(false);
  expect(await codeOf(world.charon.word.isPassphrase(passphrase))).toBe('RATE_LIMITED');
  world.clock.advance(4_000);
  world = await world.reopenAfterKill();
  const refused = await world.charon.word.isPassphrase(passphrase).catch((thrown: unknown) => thrown);
  expect(refused instanceof Fault && refused.data).toEqual({ retry_after_ms: 1_000 });
  world.clock.advance(1_000);
  expect(await world.charon.word.isPassphrase('wrong')).toBe(false);
  world.clock.advance(9_999);
  expect(await codeOf(world.charon.word.isPassphrase(passphrase))).toBe('RATE_LIMITED');
  world.clock.advance(1);
  expect(await world.charon.word.isPassphrase(passphrase)).toBe(true);
  for (let wrong = 0; wrong < 5; wrong += 1) expect(await world.charon.word.isPassphrase('wrong')).toBe(false);
});

test('C161 passphrases are looked at one after the other, a few at a time', async () => {
  await world.charon.word.setConfirmation('passphrase', passphrase, cheap);
  const tried = Array.from({ length: 6 }, () =>
    codeOf(world.charon.word.isPassphrase('wrong').then(() => undefined)).catch(() => 'looked at'),
  );
  expect((await Promise.all(tried)).filter((code) => code === 'RATE_LIMITED')).toHaveLength(2);
});

test('C161 the wait doubles from 5 s to 15 minutes; a clock that was set back makes none longer', () => {
  const waits = [4, 5, 6, 7, 12, 13, 100].map((inARow) => passphraseWaitMs({ inARow, lastMs: 1_000 }, 1_000));
  expect(waits).toEqual([0, 5_000, 10_000, 20_000, 640_000, 900_000, 900_000]);
  expect(passphraseWaitMs({ inARow: 5, lastMs: 1_000 }, 6_000)).toBe(0);
  expect(passphraseWaitMs({ inARow: 5, lastMs: 9_000_000 }, 1_000)).toBe(5_000);
});

/** An act, or something that is none: its outcome is handed over, and is durable. */
async function record(first: string, outcome: string, more: Partial<AuditSubject> = {}): Promise<void> {
  world.charon.audit.outcome(subjectOf({ door: 'owner_socket', objectIds: [first, 'more'], ...more }), outcome);
  await world.charon.audit.flush();
}

const everywhere = { afterSeq: 0, beforeSeq: Number.MAX_SAFE_INTEGER };
const outcomesListed = () =>
  world.charon.word.listActs(everywhere, 10).map(({ outcome, object_ids: ids }) => [ids[0], outcome]);

test('C162 acts of power are the outcomes that say first how they were confirmed, of what was done or may have been', async () => {
  await record('confirmed: desk', 'ok');
  await record('confirmed: passphrase', 'settled: applied', { door: 'system' });
  await record('confirmed: off', 'ambiguous');
  await record('confirmed: off', 'conflict PROPOSAL_STALE');
  await record('confirmed: off', 'settled: not_applied');
  await record('confirmed: me', 'ok');
  await record('confirmed', 'ok');
  for (const door of ['agent', 'window', 'owner_page'] as const) await record('confirmed: off', 'ok', { door });
  await world.charon.audit.intent(subjectOf({ door: 'files', objectIds: ['confirmed: desk'] }));
  const listed = [
    ['confirmed: off', 'ambiguous'],
    ['confirmed: passphrase', 'settled: applied'],
    ['confirmed: desk', 'ok'],
  ];
  expect(outcomesListed()).toEqual(listed);
  world = await world.reopen();
  expect(outcomesListed()).toEqual(listed);
  expect(await world.charon.audit.verify()).toMatchObject({ ok: true, findings: [] });
  world.withDb((db) => {
    const plan = db.explain('SELECT seq FROM audit_acts WHERE seq > +1 AND seq < +9 ORDER BY seq DESC LIMIT +2').join();
    expect(plan).toMatch(/SEARCH audit_acts USING INTEGER PRIMARY KEY/);
    expect(plan).not.toMatch(/TEMP B-TREE/);
  });
});

test.each([
  ['one that is missing', 'DELETE FROM audit_acts WHERE seq = (SELECT max(seq) FROM audit_acts)'],
  ['one too many', 'INSERT INTO audit_acts (seq) VALUES (1)'],
])('C162 verification finds %s in the list of acts', async (_, sql) => {
  await record('confirmed: desk', 'ok');
  await record('confirmed: off', 'ok');
  world.withDb((db) => db.exec(`DROP TRIGGER audit_acts_stay; ${sql}`));
  const { findings } = await world.charon.audit.verify();
  expect(findings).toEqual([
    { where: 'acts of power after seq 0', problem: 'the list of them does not follow from the entries' },
  ]);
});

test('C163 what the owner has seen never goes back nor past the end, and counts as nothing without the MAC', async () => {
  const { word } = world.charon;
  expect(word.actsSeenThrough()).toBe(0);
  await record('confirmed: desk', 'ok');
  const [act] = word.listActs(everywhere, 1);
  await word.setActsSeenThrough(1_000_000);
  expect(word.actsSeenThrough()).toBe(act?.seq);
  await word.setActsSeenThrough(1);
  expect(word.actsSeenThrough()).toBe(act?.seq);
  world.withDb((db) => db.exec("UPDATE settings SET value = '999' WHERE name = 'acts_seen_through'"));
  expect(word.actsSeenThrough()).toBe(0);
  const recovered = await world.reopen({ readOnly: true });
  world = recovered;
  for (const seq of [0, 5]) expect(await codeOf(recovered.charon.word.setActsSeenThrough(seq))).toBe('READ_ONLY');
});

test('C162 a ledger of before has no acts, and verifies with the marks of now behind it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'memory-git-charon-'));
  const [path, clock] = [join(folder, 'charon.db'), fakeClock()];
  const older = openStore(
    path,
    charonMigrations.slice(
      0,
      charonMigrations.findIndex(({ name }) => name.includes('0009')),
    ),
    clock,
  );
  insertHome(older, '00000000-0000-4000-8000-000000000000', timestampSchema.parse('2026-11-30T12:00:00Z'));
  const at = timestampSchema.parse('2026-11-30T12:00:00Z');
  const asked = subjectOf({ door: 'owner_socket', command: 'obol.mint' });
  for (const phase of ['intent', 'outcome'] as const) {
    const entry = { at, subject: asked, phase, outcome: phase === 'intent' ? '' : 'ok' };
    insertAuditEntry(older, nextEntry(auditHead(older), entry, testKeys.ledger));
  }
  older.close();
  const files = { path, anchorPath: join(folder, 'ledger.anchor'), readOnly: false, keys: testKeys, store: noStore };
  const charon = await openCharon({
    ...files,
    clock,
    ids: seededIds('older'),
    onEvents: () => undefined,
    log: silentLog,
  });
  expect(charon.word.listActs(everywhere, 10)).toEqual([]);
  charon.audit.outcome(subjectOf({ door: 'files', objectIds: ['confirmed: off'] }), 'ok');
  await charon.audit.flush();
  expect(charon.word.listActs(everywhere, 10)).toHaveLength(1);
  expect((await charon.audit.verify()).findings).toEqual([]);
  await charon.close();
  rmSync(folder, { recursive: true, force: true });
});
