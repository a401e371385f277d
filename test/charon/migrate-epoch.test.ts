import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { silentLog } from '../../src-main/base/log.ts';
import { openCharon } from '../../src-main/charon/charon.ts';
import { charonMigrations } from '../../src-main/charon/migrations/list.ts';
import { audienceOf, formatToken, tokenMac } from '../../src-main/charon/rules/token.ts';
import { openStore } from '../../src-main/sqlite/open.ts';
import { obolIdSchema } from '../../src-preload/contract/ids.ts';
import { fakeClock, seededIds } from '../support/history-builder.ts';
import { tempFolder } from '../support/temp-home.ts';
import { noStore, testKeys } from './charon-world.ts';

const before = charonMigrations.slice(
  0,
  charonMigrations.findIndex(({ name }) => name === 'charon-0010-epoch'),
);
const homeId = '11111111-1111-4111-8111-111111111111';
const agent = `principal_${'1'.repeat(16)}`;

test('R31 a home of the version before has credentials of its first epoch, which stay good; the epoch and theirs only rise', async () => {
  const path = join(tempFolder(), 'charon.db');
  const token = formatToken(obolIdSchema.parse('a'.repeat(16)), Buffer.alloc(32, 7));
  const db = openStore(path, before, fakeClock());
  const at = '2026-01-01T00:00:00Z';
  db.exec(`
    INSERT INTO home (one, home_id, created_at) VALUES (1, '${homeId}', '${at}');
    INSERT INTO principals (seq, principal_id, name, actor_id, actor_key, profile, enabled, created_at) VALUES
      (1, 'principal_${'0'.repeat(16)}', 'owner', 'o', 'o', 'owner', 1, '${at}'),
      (2, '${agent}', 'agent', 'a', 'a', 'propose', 1, '${at}');
    INSERT INTO obols (obol_id, principal_id, token_mac, audience, created_at) VALUES
      ('${'a'.repeat(16)}', '${agent}', '${tokenMac(testKeys.obol, token, audienceOf(homeId))}', '${audienceOf(homeId)}', '${at}');
    INSERT INTO ltx_keys (key_id, principal_id, kind, token_mac, created_at) VALUES
      ('${'b'.repeat(16)}', '${agent}', 'full', '${'c'.repeat(64)}', '${at}');`);
  db.close();
  const charon = await openCharon({
    ...{ path, anchorPath: `${path}.anchor`, readOnly: false, keys: testKeys, store: noStore },
    ...{ onEvents: () => undefined, log: silentLog, clock: fakeClock(), ids: seededIds('epoch') },
  });
  onTestFinished(() => charon.close());
  expect(charon.authenticate(token, 'agent')?.principal.name).toBe('agent');
  expect([charon.listObols(), charon.ltx.listKeys()].flat().map((one) => one.needs_reapproval)).toEqual([
    undefined,
    undefined,
  ]);
  const raw = openStore(path, charonMigrations, fakeClock());
  onTestFinished(() => raw.close());
  raw.exec('UPDATE credential_epoch SET epoch = 2');
  expect(charon.authenticate(token, 'agent')).toBeUndefined();
  for (const statement of [
    'UPDATE credential_epoch SET epoch = 1',
    'DELETE FROM credential_epoch',
    'UPDATE obols SET epoch = 3',
  ])
    expect(() => raw.exec(statement), statement).toThrow();
  raw.exec('UPDATE obols SET epoch = 2');
  expect(() => raw.exec('UPDATE obols SET epoch = 1')).toThrow();
  expect(charon.authenticate(token, 'agent')).toBeDefined();
});
