import type { Caller } from '../../src-main/charon/api.ts';
import type { CommandOutput } from '../../src-preload/contract/commands/table.ts';
import { branch, newKey } from './history-in-engine.ts';
import type { TempEngine } from './temp-engine.ts';

/** Commits any ops on a new branch at a changeset, and answers the new head. */
export async function commitOps(
  engine: TempEngine,
  caller: Caller,
  at: string,
  ops: readonly { readonly op_type: string; readonly [key: string]: unknown }[],
): Promise<string> {
  const { ref } = await branch(engine, caller, 'demo', `b-${newKey()}`, at);
  const made = await engine.raw(caller, 'memory.changeset_create', {
    project: 'demo',
    ref,
    expected_head: at,
    parent_ids: [at],
    message: 'ops',
    idempotency_key: newKey(),
    ops: ops.map((op, ordinal) => ({ ordinal, ...op })),
  });
  return String(Reflect.get(Object(made), 'changeset_id'));
}

/** Proposes a head for main. */
export function proposeHead(
  engine: TempEngine,
  caller: Caller,
  base: string,
  head: string,
): Promise<CommandOutput<'memory.merge_propose'>> {
  return engine.run(caller, 'memory.merge_propose', {
    project: 'demo',
    target_ref: 'refs/shared/main',
    head_changeset_id: head,
    base_changeset_id: base,
    message: 'please',
    idempotency_key: newKey(),
  });
}

/** Has the owner approve what a proposal is now, and merge it. */
export async function approveAndMerge(engine: TempEngine, proposalId: string): Promise<string> {
  const { proposal_digest, target_head } = await engine.run(engine.owner, 'memory.proposal_show', {
    proposal_id: proposalId,
  });
  const verdict = { proposal_id: proposalId, verdict: 'approve' as const, proposal_digest, target_head };
  await engine.run(engine.owner, 'memory.merge_review', verdict);
  const merged = await engine.run(engine.owner, 'memory.merge', {
    proposal_id: proposalId,
    idempotency_key: newKey(),
  });
  return merged.resulting_changeset_id;
}
