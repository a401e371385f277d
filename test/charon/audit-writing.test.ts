import { statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { silentLog } from '../../src-main/base/log.ts';
import { auditBacklogMax } from '../../src-main/charon/audit.ts';
import { openContext } from '../../src-main/charon/open.ts';
import { connect } from '../../src-main/sqlite/driver.ts';
import {
  type CharonWorld,
  codeOf,
  fillLedger,
  ledgerEntries,
  noStore,
  openWorld,
  storedEntries,
  subject,
  testKeys,
} from './charon-world.ts';

let world: CharonWorld;
beforeEach(async () => {
  world = await openWorld();
});
afterEach(() => world.remove());

describe('writing', () => {
  test('C20 an intent is durable when it resolves', async () => {
    await world.charon.audit.intent(subject('c1', { objectIds: ['a', 'b'] }));
    expect(storedEntries(world).at(-1)).toMatchObject({ phase: 'intent', outcome: '', correlation_id: 'c1' });
    expect(world.charon.audit.tail({ limit: 1 })[0]).toMatchObject({
      object_ids: ['a', 'b'],
      project: 'demo',
      door: 'agent',
      mac_key_id: 'ledger-1',
    });
  });

  test('C21 intents of one moment share a transaction, and each keeps its own place', async () => {
    const wal = () => statSync(`${world.path}-wal`).size;
    const before = storedEntries(world).length;
    await world.charon.audit.intent(subject('first'));
    const start = wal();
    await world.charon.audit.intent(subject('second'));
    const one = wal() - start;
    await Promise.all(Array.from({ length: 50 }, (_, index) => world.charon.audit.intent(subject(`c${index}`))));
    expect(wal() - start - one).toBeLessThan(one * 25);
    expect(storedEntries(world)).toHaveLength(before + 52);
    expect(
      storedEntries(world)
        .slice(-50)
        .map((entry) => entry.correlation_id),
    ).toEqual(Array.from({ length: 50 }, (_, index) => `c${index}`));
  });

  test('C22 an outcome is not awaited and is durable within some 50 ms, a note within a second', async () => {
    const { audit } = world.charon;
    await audit.intent(subject('c1'));
    audit.outcome(subject('c1'), 'done');
    audit.note(subject('n1'), 'denied: SCOPE_MISSING');
    expect(audit.backlog()).toBe(2);
    await sleep(250);
    expect(storedEntries(world).map((entry) => entry.outcome)).toContain('done');
    await sleep(1_000);
    expect(storedEntries(world).map((entry) => entry.outcome)).toContain('denied: SCOPE_MISSING');
    expect(audit.backlog()).toBe(0);
  });

  test('C22 what waits goes with the transaction of the next intent', async () => {
    const { audit } = world.charon;
    await audit.intent(subject('c1'));
    audit.outcome(subject('c1'), 'done');
    await audit.intent(subject('c2'));
    expect(storedEntries(world).slice(-3)).toMatchObject([
      { phase: 'intent', correlation_id: 'c1' },
      { phase: 'outcome', correlation_id: 'c1', outcome: 'done' },
      { phase: 'intent', correlation_id: 'c2' },
    ]);
  });

  test('C23 an intent that cannot be written throws, and so nothing runs', async () => {
    world.withDb((db) =>
      db.exec("CREATE TRIGGER broken BEFORE INSERT ON audit_entries BEGIN SELECT RAISE(ABORT, 'no'); END"),
    );
    expect(await codeOf(world.charon.audit.intent(subject('c1')))).toBe('AUDIT_UNAVAILABLE');
    expect(world.charon.audit.appendFailures()).toBe(1);
    expect(world.charon.audit.isFailing()).toBe(true);
    world.withDb((db) => db.exec('DROP TRIGGER broken'));
    await world.charon.audit.intent(subject('c2'));
    expect(world.charon.audit.isFailing()).toBe(false);
    expect(storedEntries(world).at(-1)?.correlation_id).toBe('c2');
  });

  test('C23 a database held by another process refuses the intent, and the next one goes through', async () => {
    world = await world.reopen({ tuning: { busyTimeoutMs: 30, autocheckpointPages: 1_000 } });
    const other = connect(world.path, { readOnly: false, mustExist: true });
    other.exec('BEGIN IMMEDIATE');
    expect(await codeOf(world.charon.audit.intent(subject('c1')))).toBe('AUDIT_UNAVAILABLE');
    other.exec('COMMIT');
    other.close();
    await world.charon.audit.intent(subject('c2'));
    expect(storedEntries(world).filter((entry) => entry.phase === 'intent')).toMatchObject([{ correlation_id: 'c2' }]);
  });

  test('C23 a full disk refuses intents, keeps what waits, and leaves a whole ledger behind', async () => {
    await world.charon.close();
    const options = {
      path: world.path,
      anchorPath: world.anchorPath,
      readOnly: false,
      clock: world.clock,
      ids: world.ids,
    };
    const open = { ...options, keys: testKeys, store: noStore, onEvents: () => undefined, log: silentLog };
    const { context, close } = await openContext(open);
    const pages = context.db.query<[], { page_count: number }>('PRAGMA page_count').get()?.page_count ?? 0;
    const limit = (count: number) => context.db.query<[], unknown>(`PRAGMA max_page_count = ${count}`).get();
    limit(pages + 2);
    const refused: string[] = [];
    for (let index = 0; index < 40 && refused.length === 0; index += 1) {
      const code = await codeOf(context.audit.intent(subject(`c${index}`)));
      if (code === 'AUDIT_UNAVAILABLE') refused.push(code);
      else context.audit.outcome(subject(`c${index}`), 'done');
    }
    expect(refused).toEqual(['AUDIT_UNAVAILABLE']);
    const waiting = context.audit.backlog();
    await expect(context.audit.flush()).rejects.toMatchObject({ code: 'DISK_FULL' });
    expect(context.audit.backlog()).toBe(waiting);
    limit(1_000_000);
    expect((await context.audit.verify()).findings).toEqual([]);
    expect(context.audit.backlog()).toBe(0);
    await context.audit.close();
    close();
  });

  test('C24 a backlog of 10 000 refuses intents, and notes beyond it are counted and the count recorded', async () => {
    const { audit } = world.charon;
    world.withDb((db) =>
      db.exec("CREATE TRIGGER broken BEFORE INSERT ON audit_entries BEGIN SELECT RAISE(ABORT, 'no'); END"),
    );
    for (let index = 0; index < auditBacklogMax; index += 1) audit.note(subject(`n${index}`), 'read');
    expect(audit.backlog()).toBe(auditBacklogMax);
    expect(await codeOf(audit.intent(subject('c1')))).toBe('AUDIT_UNAVAILABLE');
    audit.note(subject('beyond'), 'read');
    audit.note(subject('beyond'), 'read');
    await expect(audit.flush()).rejects.toThrow();
    expect(audit.backlog()).toBeGreaterThanOrEqual(auditBacklogMax);
    world.withDb((db) => db.exec('DROP TRIGGER broken'));
    await audit.flush();
    expect(audit.backlog()).toBe(0);
    expect(storedEntries(world).filter((entry) => entry.outcome === 'read')).toHaveLength(auditBacklogMax);
    expect(storedEntries(world).filter((entry) => entry.outcome === '2 notes could not be kept')).toHaveLength(1);
    await audit.intent(subject('c1'));
    expect((await audit.verify()).findings).toEqual([]);
  });

  test('C32 an outcome whose write fails waits and is written later, nothing lost', async () => {
    const { audit } = world.charon;
    await audit.intent(subject('c1'));
    world.withDb((db) =>
      db.exec("CREATE TRIGGER broken BEFORE INSERT ON audit_entries BEGIN SELECT RAISE(ABORT, 'no'); END"),
    );
    audit.outcome(subject('c1'), 'done');
    await expect(audit.flush()).rejects.toThrow();
    expect([audit.backlog(), audit.isFailing()]).toEqual([1, true]);
    expect(await audit.verify()).toMatchObject({ ok: true, notes: ['entries waiting to be written: 1'] });
    world.withDb((db) => db.exec('DROP TRIGGER broken'));
    await sleep(1_200);
    expect(storedEntries(world).at(-1)).toMatchObject({ correlation_id: 'c1', outcome: 'done' });
  });

  test('C33 an entry holds ids and digests of bounded length, never the idempotency key', async () => {
    const { audit } = world.charon;
    await audit.intent(
      subject('c1', {
        idempotencyKey: 'the-key',
        project: 'p'.repeat(5_000),
        objectIds: Array.from({ length: 100 }, (_, index) => `o${index}`),
      }),
    );
    audit.outcome(subject('c1', { idempotencyKey: 'the-key' }), '\ud800');
    await audit.flush();
    const [outcome, intent] = audit.tail({ limit: 2 });
    expect(intent?.project).toHaveLength(1_025);
    expect(intent?.object_ids.at(-1)).toBe('and 36 more');
    expect(outcome?.outcome).toBe('\ufffd');
    expect(JSON.stringify(ledgerEntries(world))).not.toContain('the-key');
    expect(
      world.withDb(
        (db) => db.query<[], { count: number }>('SELECT COUNT(*) AS count FROM audit_open_intents').get()?.count,
      ),
    ).toBe(0);
    expect((await audit.verify()).ok).toBe(true);
  });

  test('C26 entries cannot be changed, removed or put in out of place', async () => {
    await fillLedger(world, 2);
    const copy =
      'INSERT INTO audit_entries SELECT seq + 100, at, prev_hash, entry_hash, mac, mac_key_id, principal, credential_kind, credential_id, door, command, project, object_ids, request_digest, phase, outcome, correlation_id FROM audit_entries WHERE seq = 1';
    for (const statement of [
      "UPDATE audit_entries SET outcome = 'x'",
      'DELETE FROM audit_entries',
      copy,
      copy.replace('seq + 100', '8'),
    ]) {
      expect(() => world.withDb((db) => db.exec(statement)), statement).toThrow();
    }
  });
});
