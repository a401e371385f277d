import type { AcceptedMemory } from '../../../../src-preload/contract/memory.ts';
import { compareUtf8, trimWhiteSpace } from '../../../canonical/text.ts';
import type { Finding } from './finding.ts';
import { listSemanticKeys, textOf } from './keys.ts';
import { eventsOf, type Pair, statesOf } from './pair.ts';

/** Two facts of one key and scope that say different things of a time that they share (`lethe.md` §7 row 5). */
export function detectIncompatibleFact(pair: Pair, projectId: string): Finding | undefined {
  const { left, right } = pair;
  const [ofLeft, ofRight] = [factOf(left, projectId), factOf(right, projectId)];
  if (ofLeft === undefined || ofRight === undefined) return undefined;
  const { factKey, scope } = ofLeft;
  if (factKey !== ofRight.factKey || scope !== ofRight.scope) return undefined;
  if (trimWhiteSpace(left.content) === trimWhiteSpace(right.content) || !isOverlapping(left, right)) return undefined;
  return {
    type: 'incompatible_fact',
    severity: 'blocking',
    summary: `Incompatible facts about ${factKey} in scope ${scope}`,
    details: {
      fact_key: factKey,
      scope,
      ...eventsOf(pair),
      left_content: left.content,
      right_content: right.content,
    },
    ...statesOf(pair),
  };
}

function factOf(
  memory: AcceptedMemory,
  projectId: string,
): { readonly factKey: string; readonly scope: string } | undefined {
  return listSemanticKeys(projectId, memory).find((key) => key.kind === 'fact');
}

/** Compared as texts, both ends included; an empty end is open. */
function isOverlapping(left: AcceptedMemory, right: AcceptedMemory): boolean {
  return isNotAfter(left, right) && isNotAfter(right, left);
}

/** Whether one begins before the other has ended. */
function isNotAfter(one: AcceptedMemory, other: AcceptedMemory): boolean {
  const [from, to] = [textOf(one, 'valid_from'), textOf(other, 'valid_to')];
  return from === '' || to === '' || compareUtf8(from, to) <= 0;
}
