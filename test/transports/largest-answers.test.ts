import { join } from 'node:path';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, onTestFinished, test } from 'vitest';
import { openApp } from '../../src-main/app.ts';
import { systemClock } from '../../src-main/base/clock.ts';
import { systemIds } from '../../src-main/base/ids.ts';
import { silentLog } from '../../src-main/base/log.ts';
import { toolNameOf } from '../../src-main/transports/mcp-tools.ts';
import {
  type CommandInput,
  type CommandName,
  type CommandOutput,
  commandTable,
} from '../../src-preload/contract/commands/table.ts';
import { diffCategories } from '../../src-preload/contract/diff.ts';
import type { Profile } from '../../src-preload/contract/principal.ts';
import { clientOfSdk2 } from '../support/mcp-clients.ts';
import { tempFolder } from '../support/temp-home.ts';
import { callWhole, sent } from './whole-answer.ts';

const wireBytesMax = 100_000;
const resultBytesMax = 48_000;
const main = 'refs/shared/main';

/** Text whose JSON is many times as long: control characters, quotes, backslashes, and pairs of surrogates. */
const nasty = (mark: string, length: number): string =>
  `${mark} ${'\u0001"\u0002\\😀'.repeat(Math.ceil(length / 6))}`.slice(0, length).replace(/[\ud800-\udbff]$/, '.');

type Fields = Record<string, unknown>;

/** A whole engine, and agents that count what reaches them. */
async function open() {
  const app = await openApp({
    home: join(tempFolder(), 'home'),
    env: {},
    doors: { agentPort: 0, ownerPageDir: null },
    version: '0.1.0',
    clock: systemClock,
    ids: systemIds(),
    log: silentLog,
  });
  onTestFinished(() => app.close());
  const owner = <Name extends CommandName>(name: Name, input: CommandInput<Name>): Promise<CommandOutput<Name>> =>
    app.commands.call(name, input, app.ownerCaller('window'));
  const called = new Map<string, { answers: number; cut: boolean }>();
  const counting = async (url: string | URL, init?: RequestInit): Promise<Response> => {
    const response = await fetch(url, init);
    const body = await response.clone().text();
    if (String(init?.body).includes('"tools/call"')) expect(Buffer.byteLength(body)).toBeLessThan(wireBytesMax);
    return response;
  };
  const agent = async (name: string, profile: Exclude<Profile, 'owner'>) => {
    const { principal } = await owner('principal.reconcile', { name, profile, project: 'demo' });
    const { token } = await owner('obol.mint', { principal_id: principal.principal_id });
    const requestInit = { headers: { authorization: `Bearer ${token}` } };
    const transport = new StreamableHTTPClientTransport(new URL(app.doors.mcp ?? ''), { requestInit, fetch: counting });
    const client = await clientOfSdk2('sdk2-auto', transport, name);
    onTestFinished(() => client.close());
    await client.listTools();
    const connected: typeof client = {
      ...client,
      call: async (tool, input) => {
        const answer = await client.call(tool, input);
        expect(answer.isError, `${tool}: ${answer.text.slice(0, 300)}`).toBe(false);
        expect(JSON.parse(answer.text), tool).toEqual(answer.structured);
        expect(sent(answer.structured), tool).toBeLessThanOrEqual(resultBytesMax);
        expect(sent(answer.text) - 2, tool).toBeLessThanOrEqual(resultBytesMax);
        const known = called.get(tool) ?? { answers: 0, cut: false };
        called.set(tool, { answers: known.answers + 1, cut: known.cut || answer.structured.cut !== undefined });
        return answer;
      },
    };
    return {
      principal,
      /** One call whose answer may be cut where its whole is to be had elsewhere. */
      call: async (tool: string, input: Fields): Promise<Fields> => {
        const answer = await connected.call(tool, input);
        expect(answer.isError, `${tool}: ${answer.text.slice(0, 300)}`).toBe(false);
        return answer.structured;
      },
      /** Every page, each made whole. */
      pages: async (tool: string, input: Fields): Promise<Fields[]> => {
        const pages: Fields[] = [];
        for (let cursor: unknown; pages.length === 0 || typeof cursor === 'string'; ) {
          const { whole } = await callWhole(connected, tool, typeof cursor === 'string' ? { ...input, cursor } : input);
          pages.push(whole);
          cursor = whole.next_cursor;
        }
        return pages;
      },
    };
  };
  return { owner, agent, called };
}

const listOf = (value: unknown, key: string): Fields[] => {
  const list: unknown = Reflect.get(Object(value), key);
  return Array.isArray(list) ? list : [];
};

test('T172 every tool, driven to its largest answer, stays within the bound, and its cursors yield everything once', async () => {
  const engine = await open();
  const writer = await engine.agent('writer', 'propose');
  const reviewer = await engine.agent('reviewer', 'review');
  const actor = writer.principal.actor_id;
  const project = 'demo';
  const key = (name: string): Fields => ({ project, idempotency_key: name });

  const root = String(Object((await writer.call('memory_repo_init', { project })).ref).head_changeset_id);
  const branchAt = async (name: string, head: string): Promise<string> => {
    const ref = `refs/agents/${actor}/${name}`;
    await writer.call('memory_branch_create', { project, ref_name: ref, head_changeset_id: head });
    return ref;
  };
  const note = nasty('note', 700);
  const commit = async (
    ref: string,
    parent: string,
    name: string,
    ops: Fields[],
    more: Fields = {},
  ): Promise<string> => {
    const asked = {
      ...{ ...key(name), ref, expected_head: parent, parent_ids: [parent], ...more },
      ...{ message: nasty(name, 12_000), model: note, surface: note, environment: note, persona_id: note },
      ops: ops.map((op, ordinal) => ({ ordinal, ...op })),
    };
    return String((await writer.call('memory_changeset_create', asked)).changeset_id);
  };
  // Of one memory every state fills an answer; the others are there to share it.
  const content = (mark: string): string => nasty(mark, /^[b-d]|-b$/.test(mark) ? 300 : 9_800);
  const add = (id: string): Fields => ({
    ...{ op_type: 'add_memory', resulting_event_id: id },
    payload: { content: content(id), kind: 'fact', scope: nasty(id, 400), tags: ['t', nasty('tag', 60)] },
  });
  const correct = (id: string, mark: string): Fields => ({
    ...{ op_type: 'correct_memory', target_event_id: id, payload: { content: content(mark) } },
  });
  const relate = (from: string, to: string): Fields => ({
    ...{ op_type: 'add_relationship', target_event_id: from, resulting_event_id: to },
    payload: { kind: 'supports', summary: nasty('why', 2_000) },
  });

  // A history of inflated changesets, merged by a reviewer, and what a conflict makes of one that came too late.
  const ref = await branchAt('first', root);
  const evidence = Array.from({ length: 4 }, (_, index) => ({ kind: 'e', index, note: nasty('e', 2_000) }));
  const first = await commit(ref, root, 'c1', [add('a'), add('b'), add('c'), relate('a', 'b')], {
    evidence,
    verification: evidence,
  });
  const second = await commit(ref, first, 'c2', [correct('a', 'a2'), relate('a', 'c'), correct('b', 'b2')]);
  const propose = (name: string, head: string, base: string): Promise<Fields> =>
    writer.call('memory_merge_propose', {
      ...key(name),
      ...{ target_ref: main, head_changeset_id: head, base_changeset_id: base, message: nasty(name, 12_000) },
    });
  const review = (proposalId: unknown, verdict: string, comment: string): Promise<Fields> =>
    reviewer.call('memory_merge_review', { proposal_id: proposalId, verdict, comment });
  const opened = await propose('p1', second, root);
  for (let round = 0; round < 4; round += 1) await review(opened.proposal_id, 'request_changes', nasty('no', 3_000));
  await review(opened.proposal_id, 'approve', nasty('yes', 3_000));
  await reviewer.call('memory_merge', { proposal_id: opened.proposal_id, idempotency_key: 'm1' });

  const ours = await commit(await branchAt('ours', second), second, 'ours', [
    correct('a', 'ours'),
    correct('b', 'ours-b'),
  ]);
  const theirs = await commit(await branchAt('theirs', second), second, 'theirs', [
    correct('a', 'theirs'),
    correct('b', 'theirs-b'),
    add('d'),
  ]);
  const merged = await propose('p2', ours, second);
  await review(merged.proposal_id, 'approve', '');
  await reviewer.call('memory_merge', { proposal_id: merged.proposal_id, idempotency_key: 'm2' });
  const late = await propose('p3', theirs, second);
  const proposalId = String(late.proposal_id);
  const shownToOwner = await engine.owner('memory.proposal_show', { proposal_id: late.proposal_id as never });
  for (const conflict of shownToOwner.conflicts.filter(({ severity }) => severity === 'blocking'))
    await engine.owner('proposal.draft_resolution', {
      proposal_id: shownToOwner.proposal_id,
      resolution: {
        conflict_key: conflict.conflict_key,
        choice: 'edit',
        content: content('edited'),
        note: nasty('n', 2_000),
      },
    });
  for (let round = 0; round < 3; round += 1) await review(proposalId, 'request_changes', nasty('no', 3_000));

  // Reads: each page made whole, all pages together everything, once.
  const log = (await writer.pages('memory_log', { project, ref, limit: 200 })).flatMap((page) =>
    listOf(page, 'changesets'),
  );
  expect(log.map(({ changeset_id: id }) => id)).toEqual([second, first, root]);
  expect(log[0]?.message).toBe(nasty('c2', 12_000));

  const shown = await writer.pages('memory_show', { id: first });
  expect(shown.length).toBeGreaterThan(4);
  expect(shown.flatMap((page) => listOf(page, 'ops').map(({ ordinal }) => ordinal))).toEqual([0, 1, 2, 3]);
  expect(listOf(shown[0], 'ops')[0]?.payload).toMatchObject({ content: content('a') });
  expect(shown.flatMap((page) => listOf(page, 'evidence'))).toEqual(evidence);
  expect(shown.flatMap((page) => listOf(page, 'verification'))).toEqual(evidence);

  const diff = await writer.pages('memory_diff', { base_changeset_id: root, target_changeset_id: second });
  const added = diff.flatMap((page) => listOf(page, 'memories_added'));
  expect(added.map(({ memory_id: id }) => id).toSorted()).toEqual(['a', 'b', 'c']);
  const changed = diff.flatMap((page) => diffCategories.flatMap((category) => listOf(page, category)));
  expect(changed.some(({ after }) => Object(after).content === content('a2'))).toBe(true);

  const read = await writer.pages('memory_context_at', { project, limit: 100 });
  const memories = read.flatMap((page) => listOf(page, 'memories'));
  expect(memories.map(({ memory_id: id }) => id).toSorted()).toEqual(['a', 'b', 'c']);
  expect(memories.find(({ memory_id: id }) => id === 'a')?.content).toBe(content('ours'));
  const found = (await writer.pages('memory_search', { project, query: 'ours', limit: 100 })).flatMap((page) =>
    listOf(page, 'matches'),
  );
  expect(found.map(({ memory }) => Object(memory).memory_id).toSorted()).toEqual(['a', 'b']);

  const lineage = await writer.pages('memory_get', { project, memory_id: 'a' });
  const steps = lineage.flatMap((page) => listOf(page, 'lineage'));
  expect(new Set(steps.map(({ changeset_id: id, ordinal }) => `${id}:${ordinal}`)).size).toBe(steps.length);
  expect(steps.map(({ after }) => Object(after).content)).toEqual(
    expect.arrayContaining([content('a'), content('a2'), content('ours')]),
  );

  const listed = (await writer.pages('memory_proposal_list', { project, limit: 500 })).flatMap((page) =>
    listOf(page, 'proposals'),
  );
  expect(listed.map(({ proposal_id: id }) => id)).toEqual([proposalId, merged.proposal_id, opened.proposal_id]);
  expect(listOf(listed[2], 'verdicts')).toHaveLength(5);
  const detail = await writer.pages('memory_proposal_show', { proposal_id: proposalId });
  const conflicts = detail.flatMap((page) => listOf(page, 'conflicts').map(({ conflict_id: id }) => id));
  expect(conflicts.length).toBeGreaterThanOrEqual(2);
  expect(new Set(conflicts).size).toBe(conflicts.length);
  expect(detail.flatMap((page) => listOf(page, 'resolutions').map(({ content: text }) => text))).toContain(
    content('edited'),
  );
  expect(listOf(detail[0], 'verdicts')).toHaveLength(3);

  // What was decided or taken back, with all that it says.
  await writer.call('memory_merge_cancel', { proposal_id: proposalId });
  await writer.call('memory_revert_propose', { ...key('r1'), changeset_id: ours, message: nasty('r1', 12_000) });

  // Refs with the longest names, and where the caller stands.
  const long = 's'.repeat(128);
  const names = Array.from(
    { length: 66 },
    (_, at) =>
      `refs/${at < 33 ? 'agents' : 'sessions'}/${actor}/${long}/${long}/${long}/${String(at).padStart(78, '0')}`,
  );
  await Promise.all(
    names.map((ref_name) => writer.call('memory_branch_create', { project, ref_name, head_changeset_id: root })),
  );
  const refs = (await writer.pages('memory_ref_list', { project })).flatMap((page) =>
    listOf(page, 'refs').map(({ ref_name: name }) => String(name)),
  );
  expect(refs.filter((name) => name.includes(long))).toEqual(names);
  expect(new Set(refs).size).toBe(refs.length);
  const [status] = await writer.pages('memory_status', { project });
  expect(status).toEqual(
    JSON.parse(
      JSON.stringify(await engine.owner('memory.status', { project }).then((seen) => ({ ...seen, ...pickOf(status) }))),
    ),
  );

  // The memory ledger, whose values may be ten times as large as an answer.
  const value = { list: [content('v'), { deep: nasty('w', 9_000) }], plain: `espresso ${'x'.repeat(30_000)}`, n: 1 };
  for (const name of ['k1', 'k2', 'k3'])
    await writer.call('lithtrix_memory_set', { key: name, value: { ...value, name }, source: nasty('s', 250) });
  const [got] = await writer.pages('lithtrix_memory_get', { key: 'k2' });
  expect(got?.value).toEqual({ ...value, name: 'k2' });
  const [context] = await writer.pages('lithtrix_memory_context', { limit: 50 });
  expect(
    listOf(context, 'entries')
      .map(({ key: name }) => name)
      .toSorted(),
  ).toEqual(['k1', 'k2', 'k3']);
  expect(listOf(context, 'entries').map((entry) => Object(entry.value).plain)).toEqual([
    value.plain,
    value.plain,
    value.plain,
  ]);
  const [search] = await writer.pages('lithtrix_memory_search', { q: 'espresso', limit: 20, threshold: 0 });
  expect(listOf(search, 'results')).toHaveLength(3);

  const tools = commandTable.filter(({ tool }) => tool).map(({ name }) => toolNameOf(name));
  expect([...engine.called.keys()].toSorted()).toEqual(tools.toSorted());
  // None of these fits whole: had it been let through, the bound would not have held.
  const small = [
    'memory_branch_create',
    'memory_merge',
    'memory_merge_review',
    'memory_ref_list',
    'memory_repo_init',
    'lithtrix_memory_set',
  ];
  const cut = [...engine.called].filter(([, seen]) => seen.cut).map(([tool]) => tool);
  expect(cut.toSorted()).toEqual(tools.filter((tool) => !small.includes(tool)).toSorted());
}, 120_000);

/** What a status says of its caller. */
function pickOf(status: Fields | undefined): Fields {
  const { principal_id, actor_id, profile, scopes, grants, owned_prefixes, refs } = status ?? {};
  return { principal_id, actor_id, profile, scopes, grants, owned_prefixes, refs };
}
