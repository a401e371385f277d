import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { Fault } from '../../src-main/base/fault.ts';
import type { Caller } from '../../src-main/charon/api.ts';
import { commandTable } from '../../src-preload/contract/commands/table.ts';
import { faultKindByCode } from '../../src-preload/contract/faults.ts';
import { branch, commit, commitInput, proposal, startProject } from '../support/history-in-engine.ts';
import { type TempEngine, tempEngine } from '../support/temp-engine.ts';

/** What is known of a small world, so that ids are often right and stand in the wrong place. */
async function world() {
  const engine = await tempEngine();
  const root = await startProject(engine, 'demo');
  const writer = await engine.agent('writer', 'propose', 'demo');
  const at = await branch(engine, writer, 'demo', 'main');
  const { changeset_id: head } = await commit(engine, writer, 'demo', at, 'one', 'two');
  const { proposal_id: proposed, proposal_digest: digest } = await proposal(engine, writer, 'demo', 'work', 'three');
  const { manifest_id: manifest } = await engine.run(writer, 'memory.context_at', { project: 'demo' });
  const { next_cursor: cursor } = await engine.run(writer, 'memory.log', { project: 'demo', ref: at.ref, limit: 1 });
  const ops = [{ ordinal: 0, op_type: 'add_memory', payload: { content: 'x' } }];
  const known: readonly unknown[] = [
    ...[
      'demo',
      root,
      head,
      at.ref,
      'refs/shared/main',
      proposed,
      digest,
      manifest,
      cursor,
      `mem:${head}:0`,
      writer.principal.principal_id,
    ],
    ...[
      'approve',
      'pending',
      'propose',
      '2026-11-30T12:00:00Z',
      1,
      0,
      -1,
      1e308,
      true,
      null,
      '',
      [],
      {},
      [root],
      ops,
      '\ud800',
      'ß'.repeat(70),
    ],
  ];
  const heads = [root, head, head, '00000000-0000-4000-8000-000000000000'];
  const refs = [at.ref, at.ref, 'refs/shared/main', 'refs/topics/t', `${at.ref}/more`, 'refs/topics/t.2'];
  const fitting = {
    project: ['demo', 'demo', 'demo', 'nowhere', '*'],
    ...Object.fromEntries(['ref', 'ref_name', 'target_ref'].map((key) => [key, refs])),
    ...Object.fromEntries(
      ['id', 'base_changeset_id', 'target_changeset_id', 'head_changeset_id', 'expected_head', 'target_head'].map(
        (key) => [key, heads],
      ),
    ),
    parent_ids: [[head], [root], [head, root], []],
    memory_id: [`mem:${head}:0`, 'mem:none', ''],
    manifest_id: [manifest, root],
    proposal_id: [proposed, proposed, root],
    proposal_digest: [digest, 'a'.repeat(64)],
    ops: [
      ops,
      [{ ordinal: 0, op_type: 'correct_memory', target_event_id: `mem:${head}:1`, payload: { content: 'y' } }],
      [{ ordinal: 0, op_type: 'mark_duplicate' }],
    ],
    limit: [1, 2, 100, 0, 1e9],
    query: ['one', 'x', '', '"', '\ud800', '%_*'],
    cursor: [cursor, 'x', Buffer.from('[1]').toString('base64url')],
    at: [
      '2026-11-30T12:00:00Z',
      '2020-01-01T00:00:00.000000001Z',
      '9999-12-31T23:59:59.999999999Z',
      '0000-01-01T00:00:00Z',
    ],
    context_manifest_id: [manifest, root],
    kinds: [['fact'], [], ['task', 'record']],
    tags: [[], ['a'], ['\u0000']],
    pin: [true, false],
    all_parents: [true, false],
    evidence: [[{ summary: 's', provenance: 'p' }], [{}], []],
    ...Object.fromEntries(
      ['model', 'surface', 'environment', 'session_id', 'topic_id', 'persona_id', 'comment'].map((key) => [
        key,
        ['m', 'a\u0000b', '\ud800', ''],
      ]),
    ),
    verdict: ['approve', 'request_changes', 'reject'],
    principal_id: [writer.principal.principal_id, 'principal_0000000000000000'],
    name: ['someone', 'Owner', 'writer', '\u0000'],
    profile: ['propose', 'review', 'owner'],
    message: ['m', 'a\u0000b', '\ud800', ''],
    idempotency_key: ['k1', 'k2', 'k\u0000', 'legacy-root', '\udfff'],
    expires_ms: [null, 1_000, 86_400_000, 1e15],
    before_seq: [1, 5, Number.MAX_SAFE_INTEGER],
    actor_id: ['a.b', 'A.B', '..', 'system'],
    obol_id: ['0000000000000000'],
  };
  return { engine, writer, known, fitting };
}

/** The keys of an input and those without which it is refused at once. */
function shapeOf(name: string): { readonly keys: readonly string[]; readonly required: readonly string[] } {
  const row = commandTable.find((candidate) => candidate.name === name);
  const schema: { properties?: object; required?: string[] } =
    row === undefined ? {} : z.toJSONSchema(row.input, { io: 'input' });
  return { keys: Object.keys(schema.properties ?? {}), required: schema.required ?? [] };
}

/** For a command: mostly inputs of its own keys with things that exist, often in the wrong place; sometimes anything. */
function inputs(
  name: string,
  known: readonly unknown[],
  fitting: Readonly<Record<string, readonly unknown[]>>,
): fc.Arbitrary<unknown> {
  const { keys, required } = shapeOf(name);
  const values = (key: string): fc.Arbitrary<unknown> =>
    fc.oneof(
      { weight: 40, arbitrary: fc.constantFrom(...(fitting[key] ?? known)) },
      { weight: 1, arbitrary: fc.constantFrom(...known) },
      { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
    );
  const optional = keys.filter((key) => !required.includes(key));
  const own = fc
    .subarray(optional, { maxLength: Math.min(2, optional.length) })
    .chain((some) => fc.record(Object.fromEntries([...required, ...some].map((key) => [key, values(key)]))));
  const strange = fc.dictionary(
    fc.constantFrom('project', 'actor_id', '__proto__', 'constructor', 'x'),
    fc.jsonValue(),
    { maxKeys: 2 },
  );
  return fc.oneof(
    { weight: 10, arbitrary: own },
    { weight: 1, arbitrary: fc.tuple(own, strange).map(([left, right]) => ({ ...left, ...right })) },
    { weight: 1, arbitrary: fc.jsonValue() },
  );
}

/** Runs it and keeps what went wrong in a way that the list of faults does not know. */
async function strangeness(engine: TempEngine, caller: Caller, name: string, input: unknown): Promise<unknown> {
  try {
    await engine.raw(caller, name, input);

    return undefined;
  } catch (thrown) {
    const listed = thrown instanceof Fault && thrown.code in faultKindByCode && thrown.code !== 'INTERNAL';
    return listed ? undefined : thrown;
  }
}

test('P37 whatever is sent to whatever command, the answer is one of its contract or a fault of the list', async () => {
  const { engine, writer, known, fitting } = await world();
  // Disabling or revoking would only make the rest of the run dull.
  const dull = new Set(['principal.set_enabled', 'principal.revoke_grant', 'obol.revoke']);
  // Making a key of a passphrase is slow on purpose: a few times is enough.
  const slow = ['key.set_recovery', 'owner.set_confirmation'];
  const others = commandTable.map(({ name }) => name).filter((name) => !dull.has(name) && !slow.includes(name));
  const names = [...others, 'no.such', '__proto__', ''];
  const calls = fc
    .constantFrom(...names)
    .chain((name) => fc.tuple(fc.constant(name), inputs(name, known, fitting), fc.boolean()));
  await fc.assert(
    fc.asyncProperty(calls, async ([name, input, byOwner]) => {
      expect(await strangeness(engine, byOwner ? engine.owner : writer, name, input)).toBeUndefined();
    }),
    { numRuns: 2_000, seed: 20_261_130 },
  );
  for (const name of slow) {
    const few = fc.sample(inputs(name, known, fitting), { numRuns: 6, seed: 20_261_130 });
    for (const input of few) expect(await strangeness(engine, engine.owner, name, input)).toBeUndefined();
  }
  expect(await engine.run(engine.owner, 'audit.verify', {})).toMatchObject({ ok: true });
  expect(await engine.run(engine.owner, 'store.verify_chain', { project: 'demo' })).toMatchObject({ ok: true });
}, 60_000);

test.each(['a\u0000b', '\ud800', '\udfff\ud800', '\u2028', 'x'.repeat(1_024)])(
  'P37 a commit that says %j in any of its texts is taken whole or refused, and the project holds',
  async (text) => {
    const engine = await tempEngine();
    await startProject(engine, 'demo');
    const writer = await engine.agent('writer', 'propose', 'demo');
    const at = await branch(engine, writer, 'demo', 'main');
    const payloads = [
      { content: text },
      { content: 'c', tags: [text] },
      { content: 'c', scope: text },
      { content: 'c', memory_id: text },
      { [text]: 1, content: 'c' },
    ];
    const texts = [
      'message',
      'idempotency_key',
      'model',
      'surface',
      'environment',
      'persona_id',
      'session_id',
      'topic_id',
    ].map((key) => ({ [key]: text }));
    const bent = [
      ...payloads.map((payload) => ({ ops: [{ ordinal: 0, op_type: 'add_memory', payload }] })),
      ...texts,
      { evidence: [{ summary: text, provenance: text }] },
      { verification: [{ kind: text, summary: 's', provenance: 'p' }] },
      { ops: [{ ordinal: 0, op_type: 'correct_memory', target_event_id: text, payload: { content: 'c' } }] },
    ];
    let head = at.head;
    for (const more of bent) {
      const input = { ...commitInput('demo', { ref: at.ref, head }, 'c'), ...more };
      expect(await strangeness(engine, writer, 'memory.changeset_create', input)).toBeUndefined();
      const now = await engine.run(writer, 'memory.log', { project: 'demo', ref: at.ref, limit: 1 });
      head = now.changesets[0]?.changeset_id ?? head;
    }
    for (const name of ['memory.search', 'memory.context_at'])
      expect(await strangeness(engine, writer, name, { project: 'demo', ref: at.ref, query: text })).toBeUndefined();
    expect(
      await strangeness(engine, writer, 'memory.get', { project: 'demo', memory_id: text, head_changeset_id: head }),
    ).toBeUndefined();
    expect(await engine.run(engine.owner, 'store.verify_chain', { project: 'demo' })).toMatchObject({
      ok: true,
      findings: [],
    });
    expect(head).not.toBe(at.head);
  },
);
