import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { commandTable } from '../../src-preload/contract/commands/table.ts';
import { faultKindByCode, faultKinds } from '../../src-preload/contract/faults.ts';
import { actorIdSchema, projectIdSchema, refNameSchema, timestampSchema } from '../../src-preload/contract/ids.ts';
import { jsonObjectSchema, jsonValueSchema } from '../../src-preload/contract/json.ts';

const accepts = (schema: z.ZodType, values: readonly unknown[]): unknown[] =>
  values.filter((value) => schema.safeParse(value).success);

describe('the command table', () => {
  test('names are <family>.<verb>, unique, and their tools stay under 60 characters', () => {
    const names = commandTable.map((row) => row.name);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) {
      expect(name).toMatch(/^[a-z]+(_[a-z]+)*\.[a-z_]+$/);
      expect(`memory-git__${name.replace('.', '_')}`.length).toBeLessThan(60);
    }
  });

  test('every input is strict: an unknown key is named', () => {
    for (const row of commandTable) {
      const result = row.input.safeParse({ surprise: 1 });
      expect(result.success, row.name).toBe(false);
      expect(JSON.stringify(result.error?.issues), row.name).toContain('surprise');
    }
  });

  test('a tool has an agent’s scope, an owner’s command has no tool, and what only the door of the ledger offers is listed', () => {
    for (const row of commandTable) if (row.tool) expect(row.scope, row.name).not.toBe('owner');
    expect(commandTable.filter((row) => !row.tool && row.scope !== 'owner').map((row) => row.name)).toEqual([
      'ledger.put',
      'ledger.delete',
      'ledger.list',
      'ledger.stats',
      'ledger.me',
      'ledger.rotate_key',
      'ledger.policy',
      'ledger.amend_policy',
    ]);
  });

  test('a command that gives power says so', () => {
    expect(commandTable.filter((row) => row.power).map((row) => row.name)).toEqual([
      'memory.merge_review',
      'memory.merge',
      'principal.reconcile',
      'principal.set_enabled',
      'principal.revoke_grant',
      'obol.mint',
      'obol.revoke',
      'oauth.set_enabled',
      'oauth.approve',
      'oauth.revoke',
      'custody.open',
      'custody.close',
      'registration.approve',
      'registration.set_open',
      'ltx.mint',
      'ltx.revoke',
      'passport.revoke',
      'key.rotate',
      'key.seal',
      'key.unseal',
      'key.set_recovery',
      'setting.set_owner_self_merge',
      'store.import',
      'backup.prune',
      'obol.reapprove',
      'ltx.reapprove',
      'restore.stage',
      'restore.lift',
      'restore.put_back',
      'owner_request.decide',
      'owner.set_confirmation',
      'owner_page.open',
    ]);
  });

  test('reads are announced as reads, writes as writes; a read that pins what it read is no mere read', () => {
    const pins = 'memory.context_at';
    for (const row of commandTable)
      expect(row.annotations.readOnlyHint, row.name).toBe(!row.mutates && row.name !== pins);
  });

  test('the wire form of every command is pinned', () => {
    const shapes = commandTable.map((row) => [
      row.name,
      row.scope,
      z.toJSONSchema(row.input, { io: 'input' }),
      z.toJSONSchema(row.output, { io: 'output' }),
    ]);
    const digest = createHash('sha256').update(JSON.stringify(shapes)).digest('hex').slice(0, 16);
    expect(digest).toMatchInlineSnapshot(`"17b7f90a9fe4ec44"`);
  });
});

describe('fault codes', () => {
  test('every code has a kind, and the list is pinned', () => {
    for (const kind of Object.values(faultKindByCode)) expect(faultKinds).toContain(kind);
    expect(Object.keys(faultKindByCode).length).toBe(new Set(Object.keys(faultKindByCode)).size);
    expect(faultKindByCode).toMatchSnapshot();
  });
});

describe('free-form JSON', () => {
  test('passes through as it is, a key named __proto__ included', () => {
    const value: unknown = JSON.parse('{"a":{"__proto__":{"x":1},"b":[null,true,-0,"é"]}}');
    expect(JSON.stringify(jsonObjectSchema.parse(value))).toBe(JSON.stringify(value));
  });

  test('what is not JSON, or nested too deep for a stack, is refused and not thrown at', () => {
    let deep: unknown = 1;
    for (let level = 0; level < 100_000; level += 1) deep = [deep];
    expect(accepts(jsonValueSchema, [deep, undefined, Number.NaN, 1n, () => 1])).toEqual([]);
    expect(
      accepts(jsonObjectSchema, [null, [], 'text', { a: undefined }, { a: { b: Number.POSITIVE_INFINITY } }]),
    ).toEqual([]);
    expect(z.toJSONSchema(jsonObjectSchema)).toMatchObject({ type: 'object' });
  });
});

describe('names', () => {
  test('ref names', () => {
    expect(
      accepts(refNameSchema, [
        'refs/shared/main',
        'refs/agents/a/main',
        'refs/repos/r/feature.x/1_2-3',
        'refs/a/b/c/d/e/f',
      ]),
    ).toHaveLength(4);
    expect(
      accepts(refNameSchema, [
        '',
        'main',
        'refs/main',
        'refs//main',
        'refs/a/..',
        'refs/a/./b',
        'refs/a/b/',
        'refs/a b/c',
        'refs/ä/b',
        'refs/a/b/c/d/e/f/g',
        `refs/a/${'x'.repeat(129)}`,
        'refs/a/b\n',
      ]),
    ).toEqual([]);
  });

  test('project ids are exact: printable, trimmed, never the wildcard', () => {
    expect(
      accepts(projectIdSchema, ['demo', 'Demo', 'a', 'a/b', 'my project', '日本語', 'x'.repeat(128)]),
    ).toHaveLength(7);
    expect(
      accepts(projectIdSchema, ['', ' ', '*', 'a*', ' a', 'a ', 'a\nb', 'a\u0000', 'a\u202Eb', 'x'.repeat(129)]),
    ).toEqual([]);
  });

  test('actor ids are one path component', () => {
    expect(accepts(actorIdSchema, ['a', 'principal_0123456789abcdef', 'claude-code.1'])).toHaveLength(3);
    expect(accepts(actorIdSchema, ['', '.', '..', 'a/b', 'a b', 'é', 'x'.repeat(129)])).toEqual([]);
  });

  test('timestamps are UTC with up to nine digits', () => {
    expect(accepts(timestampSchema, ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05.000000006Z'])).toHaveLength(2);
    expect(
      accepts(timestampSchema, [
        '2026-01-02',
        '2026-01-02T03:04:05',
        '2026-01-02T03:04:05+02:00',
        '2026-02-30T00:00:00Z',
      ]),
    ).toEqual([]);
  });
});
