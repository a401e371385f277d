import { expect, test } from 'vitest';
import { commandTable } from '../../../src-preload/contract/commands/table.ts';
import type { EngineEvent } from '../../../src-preload/contract/events.ts';
import { engineEventSchema } from '../../../src-preload/contract/events.ts';
import { faultKindByCode } from '../../../src-preload/contract/faults.ts';
import { createCoalescer } from '../../../src-renderer/bridge/coalesce.ts';
import { createConnectionWatch, retryDelayMs, stateAfterFailures } from '../../../src-renderer/bridge/connection.ts';
import { staleAfter } from '../../../src-renderer/bridge/live.ts';
import { createLineReader } from '../../../src-renderer/bridge/ndjson.ts';
import { codeInHash } from '../../../src-renderer/bridge/page-session.ts';
import { Refusal, readRefusal, refusalOf } from '../../../src-renderer/bridge/refusal.ts';
import { remedyByCode } from '../../../src-renderer/ui/remedies.ts';

test('lines are read whole, however they were cut', () => {
  const reader = createLineReader();
  expect(reader.push('{"a":1}\n{"b"')).toEqual([{ a: 1 }]);
  expect(reader.push(':2}\n\n')).toEqual([{ b: 2 }]);
  expect(reader.push('no json\n{"c":3}\n')).toEqual([{ c: 3 }]);
});

test('a line without end is dropped before it fills memory', () => {
  const reader = createLineReader(10);
  expect(reader.push('"0123456789')).toEqual([]);
  expect(reader.push('\n1\n')).toEqual([1]);
});

test('a fault is read from both doors, and anything else becomes INTERNAL', () => {
  const fault = { code: 'PROPOSAL_STALE', kind: 'conflict', message: 'main moved', data: { expected: 'x' } };
  for (const answer of [fault, { fault }]) {
    const refusal = readRefusal(answer);
    expect([refusal.code, refusal.kind, refusal.message, refusal.data]).toEqual([
      'PROPOSAL_STALE',
      'conflict',
      'main moved',
      { expected: 'x' },
    ]);
  }
  expect(readRefusal('<html>').code).toBe('INTERNAL');
  expect(readRefusal({ code: 'toString', message: 'm' }).code).toBe('INTERNAL');
});

test('a thrown value that is no refusal says nothing of its inside', () => {
  expect(refusalOf(new Error('secret path')).message).not.toMatch('secret');
  const refusal = new Refusal('DISK_FULL', 'm');
  expect(refusalOf(refusal)).toBe(refusal);
});

test('every refusal comes with a remedy of its own words', () => {
  expect(Object.keys(remedyByCode).sort()).toEqual(Object.keys(faultKindByCode).sort());
  for (const remedy of Object.values(remedyByCode)) expect(remedy).toMatch(/^[A-Z].*[.]$/);
});

test('those who watch the connection hear of changes only', () => {
  const watch = createConnectionWatch('connecting');
  const heard: string[] = [];
  const stop = watch.watch(() => heard.push(watch.get()));
  watch.set('live');
  watch.set('live');
  watch.set('reconnecting');
  stop();
  watch.set('stopped');
  expect(heard).toEqual(['live', 'reconnecting']);
});

test('tries come further apart up to five seconds, and after some the engine counts as stopped', () => {
  expect([1, 2, 3, 4, 5, 6, 60].map(retryDelayMs)).toEqual([250, 500, 1_000, 2_000, 4_000, 5_000, 5_000]);
  expect(stateAfterFailures(5)).toBe('reconnecting');
  expect(stateAfterFailures(6)).toBe('stopped');
});

test('a one-time code is found in the fragment only when there is one', () => {
  expect(codeInHash('#code=a-B_9')).toBe('a-B_9');
  expect(codeInHash('#/inbox')).toBeUndefined();
  expect(codeInHash('')).toBeUndefined();
});

test('an event makes old only what it can have changed, and names real commands', () => {
  const known: readonly string[] = commandTable.map((row) => row.name);
  const event = (rest: Record<string, unknown>): EngineEvent => engineEventSchema.parse(rest);
  const moved = event({
    kind: 'ref_moved',
    project_id: 'demo',
    ref_name: 'refs/shared/main',
    head_changeset_id: '01990000-0000-7000-8000-000000000001',
  });
  expect(staleAfter(moved)).toContain('memory.context_at');
  expect(staleAfter(moved)).not.toContain('principal.list');
  expect(staleAfter(event({ kind: 'principal_changed', principal_id: 'principal_00000000000000a1' }))).toContain(
    'principal.list',
  );
  expect(staleAfter(moved).filter((name) => !known.includes(name))).toEqual([]);
});

test('names that come close together are handed over once, together', async () => {
  const handed: string[][] = [];
  const coalescer = createCoalescer<string>((names) => handed.push([...names]), 15);
  coalescer.add(['a', 'b']);
  coalescer.add(['b', 'c']);
  await new Promise((resolve) => setTimeout(resolve, 60));
  coalescer.add([]);
  coalescer.add(['d']);
  coalescer.stop();
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(handed).toEqual([['a', 'b', 'c']]);
});
