import { trimWhiteSpace } from '../../../canonical/text.ts';
import type { Finding } from './finding.ts';
import { eventsOf, type Pair, statesOf } from './pair.ts';

/** Two memories with the same content but for white space at its ends (`lethe.md` §7 row 2). */
export function detectDuplicateContent(pair: Pair): Finding | undefined {
  const { left, right } = pair;
  if (trimWhiteSpace(left.content) !== trimWhiteSpace(right.content)) return undefined;
  return {
    type: 'duplicate_content',
    severity: 'info',
    summary: 'Two memories have the same content',
    details: {
      duplicate_content: left.content,
      ...eventsOf(pair),
      left_changeset: pair.leftChangesetId,
      right_changeset: pair.rightChangesetId,
    },
    ...statesOf(pair),
  };
}
