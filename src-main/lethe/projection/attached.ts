import { assert } from '../../base/assert.ts';
import { type AttachmentList, attachmentsShownMax } from '../rules/attachments.ts';
import type { JoinedList, Version } from '../rules/overlay.ts';
import { type Attachment, findAttachment } from '../tables/attachments.ts';
import type { Draft } from './draft.ts';

/**
 * A state with what an op attached: linked to what the list had (`L132`). A joined list, and one that the op was not linked to
 * when it was made, are kept as a list of their newest.
 */
export function withAttached(draft: Draft, state: Version, list: AttachmentList, key: number): Version {
  const previous = state[list];
  if (state.joined?.[list] === undefined) {
    const stored = draft.isReplay ? findAttachment(draft.sight.db, key) : undefined;
    if (stored !== undefined && stored.previous === previous) return { ...state, [list]: key };
    if (!draft.isReplay) {
      const count = previous === undefined ? 0 : linkOf(draft, previous).count;
      draft.attachments.set(key, { op: key, previous, count: count + 1 });
      return { ...state, [list]: key };
    }
  }
  const { newest, total } = listedOf(draft, state, list);
  const joined = { newest: [...newest, key].slice(-attachmentsShownMax), total: total + 1 };
  return { ...state, [list]: key, joined: { ...state.joined, [list]: joined } };
}

/** The end of a list, be it joined or linked. */
function listedOf(draft: Draft, state: Version, list: AttachmentList): JoinedList {
  const joined = state.joined?.[list];
  if (joined !== undefined) return joined;
  const last = state[list];
  const newest: number[] = [];
  for (let op = last; op !== undefined && newest.length < attachmentsShownMax; op = linkOf(draft, op).previous)
    newest.unshift(op);
  return { newest, total: last === undefined ? 0 : linkOf(draft, last).count };
}

function linkOf(draft: Draft, op: number): Attachment {
  const attachment = draft.attachments.get(op) ?? findAttachment(draft.sight.db, op);
  assert(attachment !== undefined, 'a state names attachments that there are');
  return attachment;
}
