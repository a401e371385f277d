import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { AgentClient, ToolAnswer } from '../support/mcp-clients.ts';
import { send } from '../transports/raw-http.ts';
import { Household, type Serving } from './running-app.ts';

const project = 'refusals';
const main = 'refs/shared/main';
const faultSchema = z.object({ code: z.string(), message: z.string(), data: z.record(z.string(), z.unknown()) });
const refusal = (answer: ToolAnswer): z.infer<typeof faultSchema> => {
  expect(answer.isError, answer.text).toBe(true);
  return faultSchema.parse(answer.structured);
};
const field = (answer: ToolAnswer, name: string): string => {
  expect(answer.isError, answer.text).toBe(false);
  return z.string().parse(answer.structured[name]);
};
const add = (content: string) => [{ ordinal: 0, op_type: 'add_memory', payload: { content } }];

describe('what the product refuses, through its real doors', () => {
  const household = new Household();
  let serving: Serving;
  let agent: Awaited<ReturnType<Household['agent']>>;
  let other: typeof agent;
  let reviewing: typeof agent;
  let writer: AgentClient;
  let stranger: AgentClient;
  let reviewer: AgentClient;
  let ref: string;
  let root: string;
  let head: string;

  const commit = (client: AgentClient, more: Record<string, unknown>) =>
    client.call('memory_changeset_create', {
      project,
      ref,
      expected_head: head,
      parent_ids: [head],
      message: 'a commit',
      idempotency_key: randomUUID(),
      ops: add('something'),
      ...more,
    });
  /** Commits once more and returns the new head. */
  const committed = async (content: string): Promise<string> => {
    head = field(await commit(writer, { ops: add(content) }), 'changeset_id');
    return head;
  };
  const mainHead = async (): Promise<string> => {
    const answer = await writer.call('memory_ref_list', { project });
    const refs = z
      .object({ refs: z.array(z.object({ ref_name: z.string(), head_changeset_id: z.string() })) })
      .parse(answer.structured).refs;
    return refs.find((one) => one.ref_name === main)?.head_changeset_id ?? '';
  };
  const propose = async (): Promise<string> =>
    field(
      await writer.call('memory_merge_propose', {
        project,
        target_ref: main,
        head_changeset_id: head,
        base_changeset_id: await mainHead(),
        message: 'please',
        idempotency_key: randomUUID(),
      }),
      'proposal_id',
    );
  const approve = (proposal_id: string, more: Record<string, unknown> = {}) =>
    reviewer.call('memory_merge_review', { proposal_id, verdict: 'approve', ...more });
  const merge = (client: AgentClient, proposal_id: string) =>
    client.call('memory_merge', { proposal_id, idempotency_key: randomUUID() });

  beforeAll(async () => {
    serving = await household.serve();
    agent = await household.agent('Writer', 'propose', project);
    other = await household.agent('Stranger', 'propose', project);
    reviewing = await household.agent('Reviewer', 'review', project);
    writer = await household.client('sdk2-auto', serving.mcp, agent.token);
    stranger = await household.client('sdk1', serving.mcp, other.token);
    reviewer = await household.client('sdk2-legacy', serving.mcp, reviewing.token);
    const made = z
      .object({ ref: z.object({ head_changeset_id: z.string() }) })
      .parse((await writer.call('memory_repo_init', { project })).structured);
    root = made.ref.head_changeset_id;
    ref = `refs/agents/${agent.actorId}/work`;
    expect(
      (await writer.call('memory_branch_create', { project, ref_name: ref, head_changeset_id: root })).isError,
    ).toBe(false);
    head = root;
    await committed('the first memory');
  });
  afterAll(() => household.clear());

  test('a stale head, with the expected and the actual one', async () => {
    const fault = refusal(await commit(writer, { expected_head: root, parent_ids: [root] }));
    expect(fault.code).toBe('REF_MOVED');
    expect(fault.data).toMatchObject({ ref, expected: root, actual: head });
  });

  test('a direct write to refs/shared/main, and a branch below refs/shared', async () => {
    expect(refusal(await commit(writer, { ref: main, expected_head: root, parent_ids: [root] })).code).toBe(
      'PROTECTED_REF',
    );
    expect(
      refusal(
        await writer.call('memory_branch_create', { project, ref_name: 'refs/shared/mine', head_changeset_id: root }),
      ).code,
    ).toBe('PROTECTED_REF');
    expect(await mainHead()).toBe(root);
  });

  test('somebody else’s ref', async () => {
    expect(refusal(await commit(stranger, {})).code).toBe('NOT_REF_OWNER');
    expect(
      refusal(
        await stranger.call('memory_branch_create', {
          project,
          ref_name: `refs/agents/${agent.actorId}/theirs`,
          head_changeset_id: root,
        }),
      ).code,
    ).toBe('NOT_REF_OWNER');
  });

  test('an unknown key, named, before anything happens', async () => {
    const answer = await commit(writer, { surprise: true });
    expect(answer.text).toMatch(/^invalid: /);
    expect(refusal(answer).code).toBe('INPUT_INVALID');
    expect(answer.text).toContain('surprise');
  });

  test('attribution that is not the credential’s', async () => {
    const fault = refusal(await commit(writer, { author_principal: other.principalId }));
    expect(['INPUT_INVALID', 'ATTRIBUTION_FORGED']).toContain(fault.code);
    expect(JSON.stringify(fault)).toContain('author_principal');
  });

  test('a used idempotency key with another request; the same request answers the same', async () => {
    const key = randomUUID();
    const before = head;
    const first = field(await commit(writer, { idempotency_key: key, ops: add('once') }), 'changeset_id');
    expect(
      field(
        await commit(writer, { idempotency_key: key, ops: add('once'), expected_head: before, parent_ids: [before] }),
        'changeset_id',
      ),
    ).toBe(first);
    expect(
      refusal(
        await commit(writer, { idempotency_key: key, ops: add('twice'), expected_head: before, parent_ids: [before] }),
      ).code,
    ).toBe('IDEMPOTENCY_MISMATCH');
    head = first;
  });

  test('self-review and self-merge, and tools beyond the profile', async () => {
    const proposal = await propose();
    const review = refusal(await writer.call('memory_merge_review', { proposal_id: proposal, verdict: 'approve' }));
    expect(review.code).toBe('SCOPE_MISSING');
    expect(refusal(await merge(writer, proposal)).code).toBe('SCOPE_MISSING');
    expect((await writer.listTools()).map((tool) => tool.name)).not.toContain('memory_merge');

    // the same agent, later trusted to review: still not its own work
    expect((await household.command('charon', 'principal', 'reconcile', 'Writer', 'review', project)).code).toBe(0);
    expect(refusal(await writer.call('memory_merge_review', { proposal_id: proposal, verdict: 'approve' })).code).toBe(
      'SELF_REVIEW',
    );
    expect((await approve(proposal)).isError).toBe(false);
    expect(refusal(await merge(writer, proposal)).code).toBe('SELF_APPROVAL');
    expect((await household.command('charon', 'principal', 'reconcile', 'Writer', 'propose', project)).code).toBe(0);
    expect((await writer.call('memory_merge_cancel', { proposal_id: proposal })).isError).toBe(false);
  });

  test('a merge without approval, and one against a request for changes', async () => {
    await committed('not yet approved');
    const proposal = await propose();
    expect(refusal(await merge(reviewer, proposal)).code).toBe('NOT_APPROVED');
    expect(
      (
        await reviewer.call('memory_merge_review', {
          proposal_id: proposal,
          verdict: 'request_changes',
          comment: 'say why',
        })
      ).isError,
    ).toBe(false);
    expect(refusal(await merge(reviewer, proposal)).code).toBe('CHANGES_REQUESTED');
    expect(refusal(await stranger.call('memory_merge_cancel', { proposal_id: proposal })).code).toBe('NOT_ORIGINATOR');
    expect((await writer.call('memory_merge_cancel', { proposal_id: proposal })).isError).toBe(false);
    expect(refusal(await merge(reviewer, proposal)).code).toBe('PROPOSAL_STATE');
  });

  test('a verdict on another state than the present one, and a target that moved after the approval', async () => {
    await committed('first of two');
    const first = await propose();
    await committed('second of two');
    const second = await propose();
    expect(refusal(await approve(first, { proposal_digest: 'f'.repeat(64) })).code).toBe('PROPOSAL_STALE');
    expect((await approve(first)).isError).toBe(false);
    expect((await approve(second)).isError).toBe(false);
    expect((await merge(reviewer, second)).isError).toBe(false);
    expect(['PROPOSAL_STALE', 'NOTHING_TO_MERGE']).toContain(refusal(await merge(reviewer, first)).code);
    expect(await mainHead()).toBe(head);
  });

  test('a merge whose two sides changed the same memory, naming it; main stays', async () => {
    const memory = 'shared-fact';
    const named = (content: string) => [{ ordinal: 0, op_type: 'add_memory', payload: { content, memory_id: memory } }];
    const correct = (content: string) => [
      { ordinal: 0, op_type: 'correct_memory', target_event_id: memory, payload: { content } },
    ];
    head = field(await commit(writer, { ops: named('the port is 1') }), 'changeset_id');
    const base = head;
    const added = await propose();
    expect((await approve(added)).isError).toBe(false);
    expect((await merge(reviewer, added)).isError).toBe(false);

    const theirs = `refs/agents/${other.actorId}/work`;
    expect(
      (await stranger.call('memory_branch_create', { project, ref_name: theirs, head_changeset_id: base })).isError,
    ).toBe(false);
    const rival = field(
      await commit(stranger, { ref: theirs, expected_head: base, parent_ids: [base], ops: correct('the port is 2') }),
      'changeset_id',
    );
    head = field(await commit(writer, { ops: correct('the port is 3') }), 'changeset_id');
    const mine = await propose();
    const rivalProposal = field(
      await stranger.call('memory_merge_propose', {
        project,
        target_ref: main,
        head_changeset_id: rival,
        base_changeset_id: base,
        message: 'mine',
        idempotency_key: randomUUID(),
      }),
      'proposal_id',
    );
    expect((await approve(mine)).isError).toBe(false);
    expect((await merge(reviewer, mine)).isError).toBe(false);
    expect((await approve(rivalProposal)).isError).toBe(false);
    const fault = refusal(await merge(reviewer, rivalProposal));
    expect(fault.code).toBe('OPEN_CONFLICT');
    expect(JSON.stringify(fault.data)).toContain(memory);
    expect(await mainHead()).toBe(head);
  });

  test('a foreign Host, a foreign or null Origin, a cross-site page, a preflight, another content type: no data', async () => {
    const url = new URL(serving.mcp);
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} });
    const good = {
      host: url.host,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${agent.token}`,
    };
    const attempts: readonly [string, Record<string, string>, number[]][] = [
      ['foreign host', { ...good, host: 'evil.example' }, [403]],
      ['host without our port', { ...good, host: 'localhost' }, [403]],
      ['foreign origin', { ...good, origin: 'https://evil.example' }, [403]],
      ['null origin', { ...good, origin: 'null' }, [403]],
      ['cross-site', { ...good, 'sec-fetch-site': 'cross-site' }, [403]],
      ['same-site', { ...good, 'sec-fetch-site': 'same-site' }, [403]],
      ['no token', { ...good, authorization: '' }, [401]],
      ['wrong token', { ...good, authorization: `Bearer obol_${'0'.repeat(16)}_${'A'.repeat(43)}` }, [401]],
      ['text', { ...good, 'content-type': 'text/plain' }, [403, 415]],
    ];
    for (const [name, headers, statuses] of attempts) {
      const answer = await send({ port: Number(url.port), method: 'POST', path: url.pathname, headers, body });
      expect(statuses, name).toContain(answer.status);
      expect(answer.body, name).not.toContain('memory_');
      expect(answer.headers['access-control-allow-origin'], name).toBeUndefined();
    }
  });

  test('a body of 2 MiB, and its sender hears so', async () => {
    const url = new URL(serving.mcp);
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'memory_status', arguments: { project: 'x'.repeat(2 * 1_048_576) } },
    });
    const headers = {
      host: url.host,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${agent.token}`,
    };
    // The sender always hears why: a connection closed on unread bytes would be reset and take the answer with it.
    for (let round = 0; round < 20; round += 1) {
      const answer = await send({ port: Number(url.port), method: 'POST', path: url.pathname, headers, body });
      expect(answer.status).toBe(413);
    }
  });

  test('a project that is not granted looks like one that does not exist', async () => {
    const elsewhere = await household.agent('Elsewhere', 'propose', 'another');
    const client = await household.client('sdk2-auto', serving.mcp, elsewhere.token);
    const foreign = refusal(await client.call('memory_show', { id: head }));
    const unknown = refusal(await client.call('memory_show', { id: randomUUID() }));
    expect({ ...foreign, data: {} }).toEqual({ ...unknown, data: {} });
    expect(refusal(await client.call('memory_log', { project })).code).toBe(
      refusal(await client.call('memory_log', { project: 'no-such-project' })).code,
    );
  });

  test('a revoked token, from the next call on', async () => {
    const short = await household.agent('Short', 'readonly', project);
    const client = await household.client('sdk2-auto', serving.mcp, short.token);
    expect((await client.call('memory_status', { project })).isError).toBe(false);
    expect((await household.command('charon', 'obol', 'revoke', short.obolId)).code).toBe(0);
    await expect(client.call('memory_status', { project })).rejects.toThrow();
  });

  test('nothing that was refused left a trace in memory; chain and ledger hold', async () => {
    const chain = await household.command('lethe', 'verify-chain', project);
    expect(chain.code, JSON.stringify(chain.output)).toBe(0);
    const ledger = await household.command('charon', 'ledger', 'verify');
    expect(ledger.code, JSON.stringify(ledger.output)).toBe(0);
    expect(serving.complaints()).not.toContain(agent.token);
  });
});
