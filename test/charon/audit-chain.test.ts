import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { auditEntryHash, auditGenesisHash } from '../../src-main/canonical/policy-digest.ts';
import { hmacSha256Hex } from '../../src-main/canonical/signature.ts';
import {
  type CharonWorld,
  fillLedger,
  ledgerEntries,
  openWorld,
  seededKey,
  subject,
  tamper,
  testKeys,
} from './charon-world.ts';

let world: CharonWorld;
beforeEach(async () => {
  world = await openWorld();
});
afterEach(() => world.remove());

describe('the chain', () => {
  test('C25 the chain begins at 64 zeros; hash and MAC are those of the canonical entry', async () => {
    await fillLedger(world, 2);
    let previous = auditGenesisHash;
    for (const { entry_hash: hash, mac, ...columns } of ledgerEntries(world)) {
      expect(columns.prev_hash).toBe(previous);
      expect(hash).toBe(auditEntryHash(columns));
      expect(mac).toBe(hmacSha256Hex(seededKey('ledger'), hash));
      previous = hash;
    }
    expect(ledgerEntries(world).map((entry) => entry.seq)).toEqual(ledgerEntries(world).map((_, index) => index + 1));
  });

  test('C25 tail pages newest first', async () => {
    await fillLedger(world, 2);
    const { audit } = world.charon;
    const all = audit.tail({ limit: 100 });
    expect(audit.tail({ limit: 2 })).toEqual(all.slice(0, 2));
    expect(audit.tail({ limit: 100, beforeSeq: all[1]?.seq })).toEqual(all.slice(2));
  });

  test('C27 whatever character of whatever entry is changed, that entry is the first finding', async () => {
    await fillLedger(world, 3);
    const count = ledgerEntries(world).length;
    const names = world.withDb((db) =>
      db
        .query<[], { name: string }>("SELECT name FROM pragma_table_info('audit_entries') WHERE name <> 'seq'")
        .all()
        .map((row) => row.name),
    );
    const flips: { seq: number; column: string }[] = [];
    for (let seq = 1; seq <= count; seq += 1) for (const column of names) flips.push({ seq, column });
    tamper(world, (db) => db.exec('PRAGMA ignore_check_constraints = ON'));
    let changed = 0;
    for (const { seq, column } of flips) {
      const found = await flipAndVerify(seq, column);
      if (found === undefined) continue;
      changed += 1;
      expect(found.findings[0]?.where, `${column} of ${seq}`).toBe(`seq ${seq}`);
      expect(found.ok).toBe(false);
    }
    expect(changed).toBeGreaterThan(count * 12);
    expect((await world.charon.audit.verify()).findings).toEqual([]);
  });

  /** Changes one character, verifies, puts it back; undefined where the column is empty. */
  async function flipAndVerify(seq: number, column: string) {
    const read = world.withDb(
      (db) =>
        db.query<[number], { value: string }>(`SELECT ${column} AS value FROM audit_entries WHERE seq = ?`).get(seq)
          ?.value,
    );
    if (read === undefined || read === '') return undefined;
    const place = (seq * 7) % read.length;
    const flipped = String.fromCharCode(read.charCodeAt(place) ^ 1);
    const write = (value: string) =>
      world.withDb((db) => {
        db.exec('PRAGMA ignore_check_constraints = ON; BEGIN');
        db.command<[string, number]>(`UPDATE audit_entries SET ${column} = ? WHERE seq = ?`).run(value, seq);
        db.exec('COMMIT');
      });
    write(read.slice(0, place) + flipped + read.slice(place + 1));
    const report = await world.charon.audit.verify();
    write(read);
    return report;
  }

  test('C27 a removed entry is found, in the middle and at the end', async () => {
    await fillLedger(world, 3);
    const head = ledgerEntries(world).length;
    tamper(world, (db) => db.exec('PRAGMA foreign_keys = OFF; DELETE FROM audit_entries WHERE seq = 3'));
    expect((await world.charon.audit.verify()).findings[0]).toMatchObject({ where: 'seq 4' });
    world.withDb((db) => db.exec(`PRAGMA foreign_keys = OFF; DELETE FROM audit_entries WHERE seq > 2`));
    const report = await world.charon.audit.verify();
    expect(report.checked).toBe(2);
    expect(report.findings.map((finding) => finding.where)).toContain(`anchor, seq ${head}`);
  });

  test('C28 a ledger that was changed and hashed anew is found by its MACs', async () => {
    await fillLedger(world, 2);
    const changed = ledgerEntries(world).map((entry) => ({
      ...entry,
      ...(entry.seq === 3 ? { principal: 'principal_00000000000000ee' } : {}),
    }));
    tamper(world, (db) => {
      let previous: string = auditGenesisHash;
      for (const { entry_hash: _hash, mac: _mac, ...columns } of changed) {
        const row = { ...columns, prev_hash: previous };
        const hash = auditEntryHash(row);
        previous = hash;
        if (row.seq < 3) continue;
        const mac = hmacSha256Hex(seededKey('guess'), hash);
        db.command<[string, string, string, string, string, number]>(
          'UPDATE audit_entries SET principal = ?, prev_hash = ?, entry_hash = ?, mac = ?, mac_key_id = ? WHERE seq = ?',
        ).run(row.principal, row.prev_hash, hash, mac, row.mac_key_id, row.seq);
      }
    });
    const report = await world.charon.audit.verify();
    expect(report.findings[0]).toMatchObject({ where: 'seq 3', problem: expect.stringContaining('MAC') });
  });

  test('C30 after any sequence of intents, outcomes, notes, restarts and kills the ledger verifies', async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('intent' as const), id: fc.nat(5) }),
      fc.record({ kind: fc.constant('outcome' as const), id: fc.nat(5) }),
      fc.record({ kind: fc.constant('note' as const), id: fc.nat(5) }),
      fc.record({ kind: fc.constant('flush' as const), id: fc.constant(0) }),
      fc.record({ kind: fc.constant('restart' as const), id: fc.constant(0) }),
      fc.record({ kind: fc.constant('settle' as const), id: fc.constant(0) }),
      fc.record({ kind: fc.constant('kill' as const), id: fc.constant(0) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        let mine = await openWorld();
        try {
          for (const { kind, id } of steps) {
            const about = subject(`c${id}`, { command: 'obol.mint', objectIds: [`${id}`] });
            if (kind === 'intent') await mine.charon.audit.intent(about);
            else if (kind === 'outcome') mine.charon.audit.outcome(about, 'done');
            else if (kind === 'note') mine.charon.audit.note(about, 'denied');
            else if (kind === 'flush') await mine.charon.audit.flush();
            else if (kind === 'settle') await mine.charon.settle();
            else if (kind === 'restart') mine = await mine.reopen();
            else {
              await mine.charon.audit.flush();
              mine = await mine.reopenAfterKill();
            }
          }
          const report = await mine.charon.audit.verify();
          expect(report.findings).toEqual([]);
          expect(report.notes).toEqual([]);
        } finally {
          await mine.remove();
        }
      }),
      { numRuns: 25 },
    );
  });

  test('C31 a new MAC key begins with an entry that says so; entries of the old one are a note and no finding', async () => {
    await fillLedger(world, 2);
    const before = ledgerEntries(world).length;
    world = await world.reopen({ keys: { ...testKeys, ledger: { id: 'ledger-2', key: seededKey('ledger-2') } } });
    await fillLedger(world, 1);
    const report = await world.charon.audit.verify();
    expect(report.ok).toBe(true);
    expect(report.notes).toEqual([`${before} entries: MAC not verifiable, key absent`]);
    expect(ledgerEntries(world)[before]).toMatchObject({
      command: 'audit.key_started',
      mac_key_id: 'ledger-2',
      object_ids: ['ledger-2'],
    });
  });

  test('C31 an entry of an unknown MAC key after entries of a known one is a finding', async () => {
    await fillLedger(world, 1);
    const last = ledgerEntries(world).at(-1);
    tamper(world, (db) => {
      if (last === undefined) return;
      const { entry_hash: _hash, mac: _mac, ...columns } = { ...last, mac_key_id: 'mine', outcome: 'changed' };
      const hash = auditEntryHash(columns);
      db.command<[string, string, string, number]>(
        "UPDATE audit_entries SET mac_key_id = 'mine', outcome = ?, entry_hash = ?, mac = ? WHERE seq = ?",
      ).run('changed', hash, hmacSha256Hex(seededKey('mine'), hash), last.seq);
    });
    expect((await world.charon.audit.verify()).findings[0]).toMatchObject({
      where: `seq ${last?.seq}`,
      problem: expect.stringContaining('not at hand'),
    });
  });

  test('C31 with the keys of before at hand every entry is verified, and a replaced key that comes back is a finding', async () => {
    const second = { id: 'ledger-2', key: seededKey('ledger-2') };
    const earlierLedgers = new Map([[testKeys.ledger.id, testKeys.ledger.key]]);
    await fillLedger(world, 2);
    world = await world.reopen({ keys: { ...testKeys, ledger: second, earlierLedgers } });
    await fillLedger(world, 1);
    expect(await world.charon.audit.verify()).toMatchObject({ ok: true, findings: [], notes: [] });
    expect(world.charon.ownerSelfMerge()).toBe(true);
    world = await world.reopen({ keys: { ...testKeys, earlierLedgers: new Map([[second.id, second.key]]) } });
    expect((await world.charon.audit.verify()).findings).toMatchObject([
      { problem: 'a MAC key that was replaced is used again' },
    ]);
  });

  test('C34 the list of intents without an outcome must follow from the entries', async () => {
    await world.charon.audit.intent(subject('c1'));
    expect((await world.charon.audit.verify()).ok).toBe(true);
    world.withDb((db) => db.exec('DELETE FROM audit_open_intents'));
    expect((await world.charon.audit.verify()).findings).toMatchObject([{ where: 'open intents' }]);
  });
});
