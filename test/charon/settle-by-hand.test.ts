import { afterEach, beforeEach, expect, test } from 'vitest';
import { Fault } from '../../src-main/base/fault.ts';
import type { AuditSubject } from '../../src-main/charon/api.ts';
import { ledgerEntries, subject } from './charon-world.ts';
import { branchWith, type MergeWorld, openMergeWorld } from './merge-world.ts';

let world: MergeWorld;
let storeDown = false;
beforeEach(async () => {
  storeDown = false;
  world = await openMergeWorld((store) => ({
    ...store,
    findChangesetByKey: (...asked) =>
      storeDown ? Promise.reject(new Fault('STORE_UNAVAILABLE', 'down')) : store.findChangesetByKey(...asked),
  }));
});
afterEach(() => world.remove());

/** Writes an intent and nothing after it, as a process that dies leaves it. */
async function leave(command: string, correlationId: string, more: Partial<AuditSubject> = {}): Promise<void> {
  const { principal } = world.author;
  await world.charon.charon.audit.intent(
    subject(correlationId, { principal: principal.principal_id, command, ...more }),
  );
}

async function restart(): Promise<void> {
  world.charon = await world.charon.reopenAfterKill();
  await world.charon.charon.settle();
}

const outcomes = (correlationId: string): readonly string[] =>
  ledgerEntries(world.charon)
    .filter((entry) => entry.correlation_id === correlationId && entry.phase === 'outcome')
    .map((entry) => entry.outcome);

const settleByHand = () => world.charon.charon.settleByHand();

test('C120 what was listed as ambiguous is closed on record, and the ledger holds', async () => {
  await leave('principal.set_enabled', 'c1');
  await leave('memory.merge_review', 'c2', { objectIds: ['no id'] });
  await restart();
  expect(world.charon.charon.listAmbiguousIntents().map((intent) => intent.correlation_id)).toEqual(['c1', 'c2']);
  expect(await settleByHand()).toEqual({ settled: 0, closed: 2, left: 0 });
  expect([outcomes('c1'), outcomes('c2')]).toEqual([
    ['ambiguous', 'settled: by_hand'],
    ['ambiguous', 'settled: by_hand'],
  ]);
  expect(world.charon.charon.listAmbiguousIntents()).toEqual([]);
  expect(await settleByHand()).toEqual({ settled: 0, closed: 0, left: 0 });
  expect((await world.charon.charon.audit.verify()).findings).toEqual([]);
});

test('C120 a request that still runs is left alone', async () => {
  await leave('principal.set_enabled', 'running');
  expect(await settleByHand()).toEqual({ settled: 0, closed: 0, left: 0 });
  expect(outcomes('running')).toEqual([]);
});

test('C120 what the store could not be asked about is settled from its record as soon as it can', async () => {
  const made = await branchWith(world);
  await leave('memory.changeset_create', 'done', { idempotencyKey: made.idempotency_key });
  await leave('memory.changeset_create', 'lost', { idempotencyKey: 'never' });
  storeDown = true;
  await restart();
  expect(await settleByHand()).toEqual({ settled: 0, closed: 0, left: 2 });
  storeDown = false;
  expect(await settleByHand()).toEqual({ settled: 2, closed: 0, left: 0 });
  expect([outcomes('done'), outcomes('lost')]).toEqual([['settled: applied'], ['settled: not_applied']]);
});

test('C120 what turns out to be undecidable only now is listed before anything closes it', async () => {
  await leave('principal.set_enabled', 'c1');
  world.charon = await world.charon.reopenAfterKill();
  expect(await settleByHand()).toEqual({ settled: 0, closed: 0, left: 1 });
  expect(outcomes('c1')).toEqual(['ambiguous']);
  expect(await settleByHand()).toEqual({ settled: 0, closed: 1, left: 0 });
});

test('C120 in recovery nothing is settled by hand', async () => {
  world.charon = await world.charon.reopen({ readOnly: true });
  await expect(settleByHand()).rejects.toMatchObject({ code: 'READ_ONLY' });
});
