import { afterEach, beforeEach, expect, test } from 'vitest';
import { silentLog } from '../../src-main/base/log.ts';
import { openLedger } from '../../src-main/ledger/ledger.ts';
import { ledgerMigrations } from '../../src-main/ledger/migrations/migrations.ts';
import { openLetheFile } from '../../src-main/lethe/lethe.ts';
import { letheMigrations } from '../../src-main/lethe/migrations/migrations.ts';
import { connect } from '../../src-main/sqlite/driver.ts';
import { openStore } from '../../src-main/sqlite/open.ts';
import { historyBuilder, seededIds, seededSigner } from '../support/history-builder.ts';
import { unpackStore } from '../support/stored-lethe.ts';
import { agent, key, openTempLedger, type TempLedger } from './temp-ledger.ts';

let temp: TempLedger;
beforeEach(() => {
  temp = openTempLedger();
});
afterEach(() => temp.discard());

const unavailable = (reason: string) => ({ code: 'MEMORY_LEDGER_UNAVAILABLE', data: { reason } });

function openReadOnly(path: string): ReturnType<typeof openLetheFile> {
  return openLetheFile({
    ...{ path, readOnly: true, clock: temp.clock, ids: seededIds('other'), log: silentLog },
    headSigner: seededSigner('head'),
    mergeKeys: new Map(),
    furtherMigrations: ledgerMigrations,
    onEvents: () => {},
  });
}

test('G14 a full disk refuses what does not fit, keeps what does, and leaves nothing half', async () => {
  await temp.put('small', 1);
  const pages = Number(temp.db.pragma('page_count'));
  temp.db.pragma(`max_page_count = ${pages + 20}`);
  const outcomes = await Promise.allSettled([
    temp.put('before', 'fits'),
    temp.put('large', 'x'.repeat(300_000)),
    temp.put('after', 'fits'),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(outcomes[1]).toMatchObject({ reason: unavailable('DISK_FULL') });
  expect(() => temp.ledger.get(agent, key('large'))).toThrow(/no memory/);
  expect(temp.ledger.usage(agent)).toMatchObject({ live_keys: 3, ledger_rows: 3 });
  expect(await temp.ledger.verify()).toMatchObject({ ok: true, checked: 3 });
  temp.db.pragma('max_page_count = 1000000');
  await expect(temp.put('large', 'x'.repeat(300_000))).resolves.toMatchObject({ entry: { version: 1 } });
});

test('G14 a database that another process holds refuses, and takes the same again', async () => {
  await temp.put('k', 1);
  temp.db.pragma('busy_timeout = 50');
  const holder = connect(temp.path, { readOnly: false, mustExist: true });
  holder.exec('BEGIN IMMEDIATE');
  await expect(temp.put('k', 2)).rejects.toMatchObject(unavailable('STORE_BUSY'));
  expect(temp.ledger.get(agent, key('k')).value).toBe(1);
  holder.exec('ROLLBACK');
  holder.close();
  await expect(temp.put('k', 2)).resolves.toMatchObject({ entry: { version: 2 } });
});

test('G14 opened for reading, everything is read and every write is refused', async () => {
  await temp.put('k', 'lighthouse');
  temp.close();
  const { lethe, file } = openReadOnly(temp.path);
  const ledger = openLedger({ file, clock: temp.clock, ids: seededIds('other'), log: silentLog });
  expect(ledger.get(agent, key('k')).value).toBe('lighthouse');
  expect(ledger.search({ agentId: agent, query: 'lighthouse', limit: 5, threshold: 0.7 })).toHaveLength(1);
  expect(await ledger.verify()).toMatchObject({ ok: true });
  const refused = unavailable('READ_ONLY');
  await expect(ledger.put({ agentId: agent, key: key('k'), value: 2 })).rejects.toMatchObject(refused);
  await expect(ledger.delete({ agentId: agent, key: key('k') })).rejects.toMatchObject(refused);
  await expect(ledger.openCustody(agent, 'owner')).rejects.toMatchObject(refused);
  lethe.close();
  temp = temp.reopen();
});

test('G14 after the store was closed a write is refused', async () => {
  temp.close();
  await expect(temp.put('k', 1)).rejects.toMatchObject(unavailable('CLOSED'));
  temp = temp.reopen();
});

test('G15 a store from before the ledger is opened with it, and both are whole', async () => {
  temp.close();
  unpackStore('0006', temp.path);
  temp = temp.reopen();
  await temp.put('k', 1);
  await historyBuilder({ lethe: temp.lethe }).init();
  expect(await temp.ledger.verify()).toMatchObject({ ok: true, checked: 1 });
  const names = temp.db.query<[], { name: string }>('SELECT name FROM schema_versions ORDER BY rowid').all();
  const known = [...letheMigrations, ...ledgerMigrations].map((migration) => migration.name);
  expect(names.map((row) => row.name)).toEqual(known);
  const [project] = temp.db.query<[], { id: string }>('SELECT project_id AS id FROM memory_projects').all();
  expect(project?.id).toBe('demo');
});

test('G15 a list of migrations without the ledger refuses a store that has it', () => {
  temp.close();
  expect(() => openStore(temp.path, letheMigrations, temp.clock)).toThrow(
    expect.objectContaining({ code: 'HOME_INVALID' }),
  );
  temp = temp.reopen();
});
