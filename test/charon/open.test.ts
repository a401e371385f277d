import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { silentLog } from '../../src-main/base/log.ts';
import { proposalStateDigest } from '../../src-main/canonical/policy-digest.ts';
import { openCharon } from '../../src-main/charon/charon.ts';
import { charonMigrations } from '../../src-main/charon/migrations/list.ts';
import { digestOf, getStoredProposal } from '../../src-main/charon/proposal-now.ts';
import { openStore } from '../../src-main/sqlite/open.ts';
import { proposalIdSchema } from '../../src-preload/contract/ids.ts';
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

  test('C72 proposals from before cherry-picks and conflicts are what they were: also their digests', async () => {
    const path = join(folder, 'charon.db');
    const older = openStore(path, charonMigrations.slice(0, 3), fakeClock());
    const owner = 'principal_00000000000000aa';
    const ids = ['00000000-0000-7000-8000-000000000001', '00000000-0000-7000-8000-000000000002'];
    older.exec(`
      INSERT INTO principals (principal_id, name, actor_id, actor_key, profile, enabled, created_at)
        VALUES ('${owner}', 'owner', '${owner}', '${owner}', 'owner', 1, '2026-11-30T12:00:00Z');
      INSERT INTO proposals (proposal_id, kind, project_id, originator, target_ref, base_changeset_id, head_changeset_id, message, created_at, expires_at, expires_ms, status, target_head)
        VALUES ('${ids[0]}', 'merge_request', 'demo', '${owner}', 'refs/shared/main', '${ids[0]}', '${ids[1]}', 'old', '2026-11-30T12:00:00Z', '2026-12-07T12:00:00Z', 9e15, 'pending', '${ids[0]}');
      UPDATE proposals SET status = 'canceled', decided_at = '2026-11-30T12:00:00Z', decided_by = '${owner}';`);
    older.close();
    const db = openStore(path, charonMigrations, fakeClock());
    const stored = getStoredProposal(db, proposalIdSchema.parse(ids[0]));
    expect(stored).toMatchObject({ selected_ops: null, decided_digest: null, status: 'canceled' });
    const before = proposalStateDigest({ ...stored, conflicts: [], resolutions: [] });
    expect(digestOf(stored, { conflicts: [], drafts: [], resolutions: [] })).toBe(before);
    for (const query of [
      "SELECT * FROM resolution_drafts WHERE proposal_id = 'x' ORDER BY conflict_key",
      "SELECT * FROM attempt_resolutions WHERE nonce = 'x' ORDER BY ordinal",
      "SELECT * FROM attempt_resolutions WHERE conflict_key = 'x'",
      "SELECT * FROM store_chores WHERE proposal_id = 'x' ORDER BY seq",
    ])
      expect(db.explain(query).join(), query).not.toMatch(/TEMP B-TREE|SCAN/);
    db.close();
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
