import type { JsonObject } from '../../../src-preload/contract/json.ts';
import { encodePlain } from '../../canonical/json.ts';
import { utf8Length } from '../../canonical/text.ts';

/** Entries of evidence, and of verification, that a memory is shown with. */
export const attachmentsShownMax = 8;
/** Bytes of their plain encoding together; the newest entry is shown whatever its size. */
export const attachmentsShownBytesMax = 4_096;

/** The lists to which the attaching ops append. */
export const attachmentLists = ['evidence', 'verification'] as const;
export type AttachmentList = (typeof attachmentLists)[number];

/**
 * What a memory is shown with of a list of attachments (`L132`): the newest ones, oldest first, as many as both bounds let.
 * Takes from `newestFirst` no more than one entry beyond that.
 */
export function takeShown(newestFirst: Iterable<JsonObject>): readonly JsonObject[] {
  const shown: JsonObject[] = [];
  let bytes = 0;
  for (const entry of newestFirst) {
    bytes += utf8Length(encodePlain(entry));
    if (shown.length > 0 && bytes > attachmentsShownBytesMax) break;
    shown.unshift(entry);
    if (shown.length === attachmentsShownMax) break;
  }
  return shown;
}

/** A list as a memory carries it: what is shown, and how many there are when that is not all; nothing of an empty one. */
export function shownFields(list: AttachmentList, count: number, newestFirst: Iterable<JsonObject>): ShownFields {
  if (count === 0) return {};
  const shown = takeShown(newestFirst);
  const total = shown.length === count ? undefined : count;
  if (list === 'evidence') return { evidence: [...shown], ...(total === undefined ? {} : { evidence_total: total }) };
  return { verification: [...shown], ...(total === undefined ? {} : { verification_total: total }) };
}

export interface ShownFields {
  readonly evidence?: JsonObject[];
  readonly evidence_total?: number;
  readonly verification?: JsonObject[];
  readonly verification_total?: number;
}
