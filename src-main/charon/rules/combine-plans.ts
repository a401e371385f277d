import type { Op } from '../../../src-preload/contract/changeset.ts';
import { impossible, type Outcome, type PlannedOp, type ResolutionPlan } from './resolution-writing.ts';

/**
 * The plans of one merge beside each other, in the order in which they are carried out: without ops that an earlier one
 * has already, and a plan that leaves another thing of a memory than an earlier one is impossible.
 */
export function combinePlans(plans: readonly ResolutionPlan[]): readonly ResolutionPlan[] {
  const outcomes = new Map<string, Outcome>();
  const written = new Set<string>();
  return plans.map((plan) => {
    if (plan.kind === 'impossible') return plan;
    if ([...plan.outcomes].some(([memoryId, outcome]) => !agrees(outcomes.get(memoryId), outcome)))
      return impossible('another resolution leaves something else of the same memory: choose again');
    const before = new Map(outcomes);
    for (const [memoryId, outcome] of plan.outcomes)
      if (outcome !== 'live' || !outcomes.has(memoryId)) outcomes.set(memoryId, outcome);
    const ops = plan.ops.filter((op) => {
      if (isRetiring(op) && before.get(op.target_event_id ?? '') === 'retired') return false;
      const effect = effectOf(op);
      if (effect === undefined) return true;
      const isNew = !written.has(effect);
      written.add(effect);
      return isNew;
    });
    return { ...plan, ops };
  });
}

function agrees(before: Outcome | undefined, after: Outcome): boolean {
  if (before === undefined) return true;
  if (before === after) return before !== 'own';
  return before !== 'retired' && after !== 'retired' && (before === 'live' || after === 'live');
}

/** Of an op that may stand once only, a text by which a second one is known: retiring a memory, or giving it a state. */
function effectOf(op: PlannedOp): string | undefined {
  if (isRetiring(op)) return `retire ${op.target_event_id}`;
  const restores = op.payload?.restores;
  return typeof restores === 'string' ? `restore ${op.target_event_id} ${restores}` : undefined;
}

function isRetiring(op: PlannedOp): boolean {
  return op.op_type === 'supersede_memory' && op.payload?.content === undefined;
}

/** Ops with their ordinals, counted from `from`. */
export function numbered(ops: readonly Omit<Op, 'ordinal'>[], from: number): readonly Op[] {
  return ops.map((op, index) => ({ ...op, ordinal: from + index }));
}
