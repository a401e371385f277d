import type { AcceptedMemory } from '../../../../src-preload/contract/memory.ts';
import { trimWhiteSpace } from '../../../canonical/text.ts';
import type { Finding } from './finding.ts';
import { isDecision, textOf } from './keys.ts';
import { eventsOf, type Pair, statesOf } from './pair.ts';

/**
 * Two decisions that say different things about the same explicit scope or subject (`lethe.md` §7 rows 3 and 4, D7); graver
 * when one of them is protected or was approved by a person.
 */
export function detectDecision(pair: Pair): Finding | undefined {
  const { left, right } = pair;
  if (!isDecision(left) || !isDecision(right)) return undefined;
  if (trimWhiteSpace(left.content) === trimWhiteSpace(right.content)) return undefined;
  const scope = shared(pair, 'scope');
  const subject = shared(pair, 'subject');
  if (scope === '' && subject === '') return undefined;
  return {
    type: isProtected(left) || isProtected(right) ? 'protected_decision' : 'contradictory_decision',
    severity: 'blocking',
    summary: `Incompatible decisions ${scope === '' ? `about subject ${subject}` : `for scope ${scope}`}`,
    details: {
      scope,
      ...(subject === '' ? {} : { subject }),
      ...eventsOf(pair),
      left_content: left.content,
      right_content: right.content,
    },
    ...statesOf(pair),
  };
}

function shared({ left, right }: Pair, key: string): string {
  const text = textOf(left, key);
  return text === textOf(right, key) ? text : '';
}

function isProtected({ payload }: AcceptedMemory): boolean {
  return payload?.protected === true || payload?.approval === 'user_approved';
}
