import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { charonMigrations } from '../../src-main/charon/migrations/list.ts';
import { quotasDefault, requireProposalRoom } from '../../src-main/charon/rules/quota.ts';
import { openStore } from '../../src-main/sqlite/open.ts';
import { principalIdSchema } from '../../src-preload/contract/ids.ts';
import { dayMs } from '../../src-preload/contract/limits.ts';
import { fakeClock } from '../support/history-builder.ts';
import { tempFolder } from '../support/temp-home.ts';
import { type CharonWorld, codeOf, openWorld } from './charon-world.ts';

const one = principalIdSchema.parse('principal_0000000000000001');
const other = principalIdSchema.parse('principal_0000000000000002');
const branch = { refs: 1, payloadBytes: 10 };
const bytes = (payloadBytes: number) => ({ refs: 0, payloadBytes });

let world: CharonWorld;
beforeEach(async () => {
  world = await openWorld({ quotas: { refs: 2, payloadBytesPerDay: 100 } });
});
afterEach(() => world.remove());

/** The refusal of a look that takes nothing; undefined when there is room. */
function lookFor(use: { refs: number; payloadBytes: number }): unknown {
  try {
    world.charon.requireQuota(one, use);
    return undefined;
  } catch (thrown) {
    return thrown;
  }
}

describe('what a principal may have and send', () => {
  test('C110 a branch beyond the quota is refused, one that was not made is given back, others are not held up', async () => {
    const { charon } = world;
    await charon.takeQuota(one, branch);
    await charon.takeQuota(one, branch);
    expect(lookFor(branch)).toMatchObject({ code: 'QUOTA', kind: 'invalid', data: { quota: 'refs', max: 2 } });
    expect(await codeOf(charon.takeQuota(one, branch))).toBe('QUOTA');
    expect(lookFor(bytes(1))).toBeUndefined();
    await charon.takeQuota(other, branch);
    await charon.takeQuota(one, { refs: -1, payloadBytes: 0 });
    await charon.takeQuota(one, branch);
    expect(lookFor(branch)).toMatchObject({ code: 'QUOTA' });
    world.clock.advance(400 * dayMs);
    expect(lookFor(branch)).toMatchObject({ code: 'QUOTA' });
  });

  test('C110 nothing given back makes more room than there ever was', async () => {
    const { charon } = world;
    await charon.takeQuota(one, { refs: -1, payloadBytes: 0 });
    await charon.takeQuota(one, branch);
    await charon.takeQuota(one, branch);
    expect(await codeOf(charon.takeQuota(one, branch))).toBe('QUOTA');
  });

  test('C111 the bytes of a day end with the day, and a refusal says when that is', async () => {
    const { charon, clock } = world;
    const intoDayMs = clock.nowMs() % dayMs;
    await charon.takeQuota(one, bytes(60));
    await charon.takeQuota(one, bytes(40));
    expect(lookFor(bytes(1))).toMatchObject({
      code: 'QUOTA',
      data: { quota: 'payload_bytes_per_day', max: 100, retry_after_ms: dayMs - intoDayMs },
    });
    await charon.takeQuota(other, bytes(100));
    clock.advance(dayMs - intoDayMs - 1);
    expect(await codeOf(charon.takeQuota(one, bytes(1)))).toBe('QUOTA');
    clock.advance(1);
    await charon.takeQuota(one, bytes(100));
    expect(await codeOf(charon.takeQuota(one, bytes(1)))).toBe('QUOTA');
  });

  test('C112 of uses at one moment only those that fit are taken, whole, and a restart forgets none', async () => {
    const taken = await Promise.all(
      Array.from({ length: 7 }, () => codeOf(world.charon.takeQuota(one, { refs: 0, payloadBytes: 30 }))),
    );
    expect(taken.filter((code) => code === 'QUOTA')).toHaveLength(4);
    world = await world.reopen();
    expect(lookFor(bytes(11))).toMatchObject({ code: 'QUOTA' });
    expect(lookFor(bytes(10))).toBeUndefined();
  });

  test('C112 a look costs one row, on a database that the version before made', () => {
    const path = join(tempFolder(), 'charon.db');
    const before = charonMigrations.slice(
      0,
      charonMigrations.findIndex(({ name }) => name === 'charon-0006-quotas'),
    );
    openStore(path, before, fakeClock()).close();
    const db = openStore(path, charonMigrations, fakeClock());
    const plan = db.explain("SELECT refs, day, payload_bytes FROM quota_use WHERE principal_id = 'x'").join();
    expect(plan).toContain('SEARCH quota_use USING PRIMARY KEY');
    db.close();
  });

  test('C113 the quotas are those of the protocol unless they are set', async () => {
    expect(quotasDefault).toEqual({
      openProposals: 200,
      refs: 10_000,
      payloadBytesPerDay: 1_073_741_824,
      pendingRegistrations: 20,
    });
    world = await world.reopen({ quotas: { refs: 1 } });
    expect(lookFor({ refs: 2, payloadBytes: 0 })).toMatchObject({ data: { max: 1 } });
    expect(lookFor(bytes(1_073_741_824))).toBeUndefined();
    expect(() => requireProposalRoom({ ...quotasDefault, openProposals: 3 }, 2)).not.toThrow();
    expect(() => requireProposalRoom({ ...quotasDefault, openProposals: 3 }, 3)).toThrow(/3 open proposals/);
  });
});
