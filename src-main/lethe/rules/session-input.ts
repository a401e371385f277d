import { projectIdSchema } from '../../../src-preload/contract/ids.ts';
import type { JsonObject } from '../../../src-preload/contract/json.ts';
import { attributionBytesMax, tagBytesMax, tagsMax } from '../../../src-preload/contract/limits.ts';
import { Fault } from '../../base/fault.ts';
import { isBlank, utf8Length } from '../../canonical/text.ts';

/** The refusal of a field, with its name in front. */
export function fieldFault(field: string, problem: string): Fault {
  return new Fault('INPUT_INVALID', `${field}: ${problem}`, { field });
}

/** A text in its bound, well-formed. Throws INPUT_INVALID. */
export function boundedText(field: string, text: string, bytesMax: number = attributionBytesMax): string {
  const wellFormed = text.toWellFormed();
  if (utf8Length(wellFormed) <= bytesMax) return wellFormed;
  throw fieldFault(field, `it is over ${bytesMax} bytes. Shorten it.`);
}

/** The same of a text that must not be blank. Throws INPUT_INVALID. */
export function requiredText(field: string, text: string, bytesMax: number = attributionBytesMax): string {
  if (isBlank(text)) throw new Fault('INPUT_INVALID', `${field} required`, { field });
  return boundedText(field, text, bytesMax);
}

/** A project id, as memory takes it too: its events become the baseline of that memory. Throws INPUT_INVALID. */
export function requiredProject(text: string): string {
  const projectId = requiredText('project_id', text);
  if (projectIdSchema.safeParse(projectId).success) return projectId;
  throw fieldFault('project_id', 'it has 1 to 128 printable characters, no `*`, no space at its ends.');
}

/** One of some words. Throws INPUT_INVALID. */
export function oneOf<Word extends string>(field: string, text: string, words: readonly Word[]): Word {
  const word = words.find((one) => one === text);
  if (word !== undefined) return word;
  throw fieldFault(field, `it is none of ${words.join(', ')}.`);
}

/** Tags in their bounds, each well-formed and not empty. Throws INPUT_INVALID. */
export function boundedTags(tags: readonly string[]): readonly string[] {
  if (tags.length > tagsMax) throw fieldFault('tags', `there are more than ${tagsMax}.`);
  return tags.filter((tag) => tag !== '').map((tag) => boundedText('tags', tag, tagBytesMax));
}

/** A confidence from 0 to 1, or none. Throws INPUT_INVALID. */
export function boundedConfidence(confidence: number | null): number | null {
  if (confidence === null || (confidence >= 0 && confidence <= 1)) return confidence;
  throw fieldFault('confidence', 'it is a number from 0 to 1.');
}

/** A whole number that is not negative, or none. Throws INPUT_INVALID. */
export function boundedCount(field: string, count: number | null): number | null {
  if (count === null || (Number.isSafeInteger(count) && count >= 0)) return count;
  throw fieldFault(field, 'it is a whole number, 0 or more.');
}

/** What a checkpoint keeps of a session (`lethe.md` §1.4); what is left out is empty. */
export interface Snapshot {
  readonly open_threads: readonly string[];
  readonly recent_event_ids: readonly string[];
  readonly current_task: string;
  readonly last_tool: string;
}

const snapshotListMax = 1_000;
const snapshotTextBytesMax = 16_384;

/** A snapshot in its bounds. Throws INPUT_INVALID. */
export function boundedSnapshot(snapshot: Snapshot): JsonObject {
  const list = (field: string, ids: readonly string[]): readonly string[] => {
    if (ids.length > snapshotListMax) throw fieldFault(field, `there are more than ${snapshotListMax}.`);
    return ids.map((id) => boundedText(field, id));
  };
  return {
    open_threads: list('snapshot.open_threads', snapshot.open_threads),
    recent_event_ids: list('snapshot.recent_event_ids', snapshot.recent_event_ids),
    current_task: boundedText('snapshot.current_task', snapshot.current_task, snapshotTextBytesMax),
    last_tool: boundedText('snapshot.last_tool', snapshot.last_tool),
  };
}
