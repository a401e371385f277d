import { useState } from 'react';
import type { LineageStep } from '../../../src-preload/contract/memory.ts';
import type { ProposalDetail } from '../../../src-preload/contract/proposal.ts';
import { type Ask, useAsk, useEngineCommand } from '../../bridge/queries.tsx';
import { type Refusal, refusalOf } from '../../bridge/refusal.ts';
import type { Change } from '../../ui/changes.ts';
import { goTo } from '../../ui/navigation.ts';
import { opsBeyond, type PickedOp, tickAlong } from './pick.ts';

/** A subset of a proposal's changes that is on its way to become a proposal of its own. */
export interface Pick {
  readonly ticked: ReadonlySet<string>;
  /** What the ticked ones need: ticked along, and not to be unticked alone. */
  readonly along: ReadonlySet<string>;
  readonly toggle: (key: string) => void;
  readonly clear: () => void;
  /** Files the cherry-pick and opens it. */
  readonly propose: (message: string) => void;
  readonly busy: boolean;
  readonly refusal: Refusal | null;
}

/** Pages of one memory's life that are read for a pick. */
const pagesMax = 40;

/** Ticks of one proposal, and the cherry-pick that they make. */
export function usePick(proposal: ProposalDetail, changes: readonly Change[]): Pick {
  const ask = useAsk();
  const file = useEngineCommand('memory.merge_propose');
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set());
  const [busy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const along = tickAlong(changes, ticked);
  const propose = async (message: string): Promise<void> => {
    setRefusal(null);
    setBusy(true);
    try {
      const taken = changes.filter(({ key }) => ticked.has(key) || along.has(key));
      const picked = await file.mutateAsync({
        project: proposal.project_id,
        target_ref: proposal.target_ref,
        head_changeset_id: proposal.head_changeset_id,
        base_changeset_id: proposal.base_changeset_id,
        message,
        idempotency_key: crypto.randomUUID(),
        selected_ops: [...(await opsOf(ask, proposal, taken))],
      });
      setTicked(new Set());
      goTo({ screen: 'inbox', proposalId: picked.proposal_id });
    } catch (error) {
      setRefusal(refusalOf(error));
    } finally {
      setBusy(false);
    }
  };
  return {
    ticked,
    along,
    toggle: (key) => {
      setRefusal(null);
      setTicked(toggled(ticked, key));
    },
    clear: () => setTicked(new Set()),
    propose: (message) => void propose(message),
    busy,
    refusal,
  };
}

function toggled(ticked: ReadonlySet<string>, key: string): ReadonlySet<string> {
  const next = new Set(ticked);
  if (!next.delete(key)) next.add(key);
  return next;
}

/** Every op behind the changes: of a relationship its own, of a memory all that the proposal did to it. */
async function opsOf(ask: Ask, proposal: ProposalDetail, changes: readonly Change[]): Promise<readonly PickedOp[]> {
  const taken = new Map<string, PickedOp>();
  for (const { item } of changes) {
    const own = { changeset_id: item.changeset_id, ordinal: item.op_ordinal };
    const ops = item.op_type === 'add_relationship' ? [own] : await opsOfMemory(ask, proposal, item.memory_id);
    for (const op of [...ops, own]) taken.set(`${op.changeset_id} ${op.ordinal}`, op);
  }
  return [...taken.values()];
}

async function opsOfMemory(ask: Ask, proposal: ProposalDetail, memoryId: string): Promise<readonly PickedOp[]> {
  const target = proposal.preview?.target_head ?? proposal.target_head;
  const atHead = await lifeOf(ask, proposal.project_id, memoryId, proposal.head_changeset_id);
  const atTarget: LineageStep[] = [];
  for (const id of new Set(atHead.map((step) => step.memory_id))) {
    atTarget.push(...(await lifeOf(ask, proposal.project_id, id, target)));
  }
  return opsBeyond(atHead, atTarget);
}

/** Every step in the life of a memory at a head; none where it is not known. */
async function lifeOf(ask: Ask, project: string, memoryId: string, head: string): Promise<readonly LineageStep[]> {
  const steps: LineageStep[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < pagesMax; page += 1) {
    const input = {
      project,
      memory_id: memoryId,
      head_changeset_id: head,
      ...(cursor === undefined ? {} : { cursor }),
    };
    try {
      const answer = await ask('memory.get', input);
      steps.push(...answer.lineage);
      cursor = answer.next_cursor;
    } catch (error) {
      if (refusalOf(error).code === 'MEMORY_NOT_FOUND') return steps;
      throw error;
    }
    if (cursor === undefined) return steps;
  }
  return steps;
}
