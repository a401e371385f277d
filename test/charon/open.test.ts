import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { silentLog } from '../../src-main/base/log.ts';
import { openCharon } from '../../src-main/charon/charon.ts';
import { charonMigrations } from '../../src-main/charon/migrations/list.ts';
import { openStore } from '../../src-main/sqlite/open.ts';
import { fakeClock, seededIds } from '../support/history-builder.ts';
import { codeOf, noStore, openWorld, testKeys } from './charon-world.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'memory-git-charon-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const open = (readOnly: boolean) =>
  openCharon({
    path: join(folder, 'charon.db'),
    anchorPath: join(folder, 'ledger.anchor'),
    readOnly,
    clock: fakeClock(),
    ids: seededIds('open'),
    keys: testKeys,
    store: noStore,
    onEvents: () => undefined,
    log: silentLog,
  });

describe('opening', () => {
  test('C72 recovery makes nothing: a home that was never started is refused', async () => {
    expect(await codeOf(open(true))).toBe('STORE_UNAVAILABLE');
    openStore(join(folder, 'charon.db'), charonMigrations, fakeClock()).close();
    expect(await codeOf(open(true))).toBe('HOME_INVALID');
  });

  test('C72 recovery migrates nothing: a home of an older version is refused, untouched', async () => {
    const older = openStore(join(folder, 'charon.db'), charonMigrations.slice(0, 2), fakeClock());
    older.close();
    expect(await codeOf(open(true))).toBe('HOME_INVALID');
    const after = await open(false);
    await after.close();
  });

  test('C72 each migration runs on a database that the ones before it made', async () => {
    for (let upTo = 0; upTo <= charonMigrations.length; upTo += 1) {
      const path = join(folder, `charon-${upTo}.db`);
      openStore(path, charonMigrations.slice(0, upTo), fakeClock()).close();
      const db = openStore(path, charonMigrations, fakeClock());
      const applied = db.query<[], { name: string }>('SELECT name FROM schema_versions ORDER BY rowid').all();
      expect(applied.map((row) => row.name)).toEqual(charonMigrations.map((migration) => migration.name));
      db.close();
    }
  });

  test('C1 the files of a home are the owner’s alone, whatever the umask', async () => {
    const before = process.umask(0);
    const world = await openWorld();
    process.umask(before);
    expect(statSync(world.path).mode & 0o777).toBe(0o600);
    expect(statSync(world.anchorPath).mode & 0o777).toBe(0o600);
    await world.remove();
  });
});
