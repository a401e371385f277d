import type { ReadableDb } from '../sqlite/driver.ts';
import type { AcceptedReader } from './projection/accepted.ts';
import { successorOf } from './projection/bereft.ts';
import { seqOf } from './rules/numbers.ts';
import type { Touch } from './tables/touches.ts';

/**
 * Why a memory is not active in the state that a touch left (`lethe.md` §5.6): corrected by which, superseded at which
 * changeset, duplicate of which, or without a text. Undefined for one that is.
 */
export function findRetiredReason(db: ReadableDb, accepted: AcceptedReader, touch: Touch): string | undefined {
  switch (touch.status) {
    case 'active':
    case 'deprecation_proposed':
      return undefined;
    case 'blank':
    case 'deprecation_blank':
      return 'its content is blank';
    case 'corrected':
      return touch.linked === undefined ? 'corrected' : `corrected by ${accepted.memoryId(touch.linked)}`;
    case 'superseded':
      return `superseded at ${accepted.changesetId(seqOf(touch.key))}`;
    case 'duplicate':
      return duplicateReason(db, accepted, touch);
    case 'deprecation_retired':
      return 'retired before its deprecation was proposed';
  }
}

function duplicateReason(db: ReadableDb, accepted: AcceptedReader, touch: Touch): string {
  const stays = successorOf(db, touch);
  return stays === undefined ? 'duplicate of another memory' : `duplicate of ${accepted.memoryId(stays)}`;
}
