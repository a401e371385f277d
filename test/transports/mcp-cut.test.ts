import { expect, test } from 'vitest';
import { z } from 'zod';
import { Fault } from '../../src-main/base/fault.ts';
import { resultBytes } from '../../src-main/commands/result-bytes.ts';
import { callTool } from '../../src-main/transports/mcp-call.ts';
import { type Cut, cutToFit, startOf } from '../../src-main/transports/mcp-cut.ts';
import { toolRefusal } from '../../src-main/transports/mcp-result.ts';
import { toolNameOf, toolsOf } from '../../src-main/transports/mcp-tools.ts';
import { commandTable } from '../../src-preload/contract/commands/table.ts';
import { resultBytesMax } from '../../src-preload/contract/limits.ts';
import { sent, wholeOf } from './whole-answer.ts';

/** Numbers that look random and are the same each time. */
function seeded(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

const alphabet = ['a', 'é', '日', '😀', '"', '\\', '\n', '\u0001', '\u007f', '\u2028', '\ud800'];

function anyValue(next: (below: number) => number, depth: number): unknown {
  const kind = next(depth > 2 ? 2 : 5);
  if (kind === 0) return [null, true, 12.5, ''][next(4)];
  if (kind === 1) return Array.from({ length: next(4_000) }, () => alphabet[next(alphabet.length)]).join('');
  if (kind === 2) return Array.from({ length: next(12) }, () => anyValue(next, depth + 1));
  const keys = Array.from(
    { length: next(9) },
    (_, at) => `${at}${alphabet[next(alphabet.length)]}/~${'k'.repeat(next(400))}`,
  );
  return Object.fromEntries(keys.map((key) => [key, anyValue(next, depth + 1)]));
}

/** Puts back what was cut off. */
function mended(shown: Readonly<Record<string, unknown>>, cuts: readonly Cut[]): unknown {
  return wholeOf(
    structuredClone(shown),
    cuts.map((cut) => ({ ...cut, text: cut.rest })),
  );
}

test('T170 the size of a result is what it takes inside a JSON string', () => {
  for (const text of ['plain', 'a "quoted" \\ back', '\u0000\u0001\n\t', 'é日😀\u2028', '\ud800', '']) {
    expect(resultBytes(text), text).toBe(Buffer.byteLength(JSON.stringify(JSON.stringify(text))) - 2);
    for (let max = 0; max < 60; max += 1) {
      const start = startOf(text, max);
      expect(text.startsWith(start)).toBe(true);
      expect(resultBytes(start) - 4).toBeLessThanOrEqual(max);
    }
  }
  expect(startOf('😀😀', 7)).toBe('😀');
});

test('T170 whatever the answer, what is shown fits with its marks, and what was cut off makes it whole', () => {
  let cut = 0;
  for (let seed = 1; seed <= 25; seed += 1) {
    const next = seeded(seed);
    const answer = { status: 'success', first: anyValue(next, 0), second: anyValue(next, 1), n: seed };
    const { shown, cuts } = cutToFit(answer, resultBytesMax);
    const marks = cuts.map(({ rest, ...mark }) => mark);
    expect(resultBytes({ ...shown, cut: marks, rest_cursor: 'x'.repeat(3_900) }), `seed ${seed}`).toBeLessThanOrEqual(
      Math.max(resultBytesMax, cuts.length === 0 ? resultBytesMax + 4_000 : 0),
    );
    expect(mended(shown, cuts), `seed ${seed}`).toEqual(answer);
    expect(cutToFit(answer, resultBytesMax)).toEqual({ shown, cuts });
    if (cuts.length > 0) cut += 1;
  }
  expect(cut).toBeGreaterThan(6);
});

test('T170 what is small stays whole beside what is large, and a value of many parts is left out whole', () => {
  const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`key-${at}`, at]));
  const answer = { key: 'k', note: 'short', value: many, text: '"'.repeat(90_000) };
  const { shown, cuts } = cutToFit(answer, resultBytesMax);
  expect(shown).toMatchObject({ key: 'k', note: 'short', value: null });
  expect(cuts.map(({ path, form, kept, total }) => [path, form, kept > 0, total])).toEqual([
    ['/value', 'json', false, JSON.stringify(many).length],
    ['/text', 'text', true, 90_000],
  ]);
  const deep = { value: Array.from({ length: 60 }).reduce<unknown>((inner) => [inner, 'x'.repeat(3_000)], 'end') };
  const deeply = cutToFit(deep, resultBytesMax);
  expect(resultBytes({ ...deeply.shown, cut: deeply.cuts.map(({ rest, ...mark }) => mark) })).toBeLessThan(
    resultBytesMax,
  );
  expect(mended(deeply.shown, deeply.cuts)).toEqual(deep);
});

test('T170 a refusal that names too much is cut as well, and says so', () => {
  const memoryIds = Array.from({ length: 500 }, (_, at) => `${at}-${'\u0001'.repeat(1_000)}`);
  const result = toolRefusal(new Fault('BOTH_SIDES_TOUCHED', 'Both sides changed these.', { memory_ids: memoryIds }));
  expect(sent(result)).toBeLessThan(100_000);
  expect(result.structuredContent).toMatchObject({
    code: 'BOTH_SIDES_TOUCHED',
    message: 'Both sides changed these.',
    data: { cut: [{ path: '/data/memory_ids', form: 'items', total: 500 }] },
  });
  const small = toolRefusal(new Fault('REF_MOVED', 'It moved.', { ref: 'r' }));
  expect(small.structuredContent).toEqual({ code: 'REF_MOVED', message: 'It moved.', data: { ref: 'r' } });
});

test('T171 a rest goes on while its answer stands; a changed answer is given anew, another question is not answered', async () => {
  let text = 'a'.repeat(150_000);
  let status = 'pending';
  const asked: { readonly name: string; readonly input: unknown }[] = [];
  const run = async (name: string, input: unknown): Promise<unknown> => {
    asked.push({ name, input });
    return { head_changeset_id: 'h1', text, status };
  };
  const given = { project: 'demo', memory_id: 'm' };
  const call = async (tool: string, input: Record<string, unknown>): Promise<Record<string, unknown>> =>
    z.record(z.string(), z.unknown()).parse((await callTool(tool, input, run)).structuredContent);
  const first = await call('memory_get', given);
  expect(first).toMatchObject({ cut: [{ path: '/text', form: 'text', total: 150_000 }] });
  const cursor = String(first.rest_cursor);
  const second = await call('memory_get', { memory_id: 'm', cursor, project: 'demo' });
  expect(Object.keys(second)).toEqual(['rest', 'rest_cursor']);
  // The head of the first answer is asked for again, whatever main is by then.
  expect(asked.at(-1)?.input).toEqual({ ...given, head_changeset_id: 'h1' });

  // Also when only what is whole changed: nobody may be taken to have seen it.
  status = 'merging';
  expect(await call('memory_get', { ...given, cursor: second.rest_cursor })).toMatchObject({ changed: true, status });
  text = 'b'.repeat(150_000);
  const anew = await call('memory_get', { ...given, cursor: second.rest_cursor });
  expect(anew).toMatchObject({ changed: true, cut: [{ path: '/text' }] });
  expect(String(anew.text).startsWith('bbb')).toBe(true);
  text = 'short';
  const whole = await call('memory_get', { ...given, cursor: second.rest_cursor });
  expect(whole).toEqual({ head_changeset_id: 'h1', text: 'short', status, changed: true });

  for (const [tool, other] of [
    ['memory_get', { ...given, memory_id: 'other', cursor }],
    ['memory_search', { ...given, cursor }],
    ['memory_get', { ...given, cursor: `${cursor.slice(0, 30)}!` }],
  ] as const) {
    await callTool(tool, other, run);
    expect(asked.at(-1)?.input).toEqual(other);
  }
  text = 'c'.repeat(150_000);
  const written = await call('memory_repo_init', { project: 'demo' });
  expect(written).toMatchObject({ cut: [{ path: '/text' }] });
  expect(written.rest_cursor).toBeUndefined();
});

test('T171 every tool that reads says that it takes a cursor, and no tool that writes does', () => {
  for (const tool of toolsOf(commandTable)) {
    const reads = commandTable.find(({ name }) => toolNameOf(name) === tool.name)?.mutates === false;
    expect([tool.name, tool.inputSchema.properties?.cursor !== undefined]).toEqual([tool.name, reads]);
    expect(tool.inputSchema.required ?? [], tool.name).not.toContain('cursor');
  }
});
