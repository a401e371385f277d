import { z } from 'zod';
import { Fault } from '../../base/fault.ts';
import type { Snapshot } from '../../lethe/rules/session-input.ts';
import type { SessionOutcome } from '../../lethe/session-api.ts';
import { type Answer, json, refusal } from './answer.ts';
import { readBody, recordField, textField, textsField } from './body.ts';
import { decodeSegment } from './path.ts';
import { type Asked, param, queryLimit, queryText, type RouteDeps } from './route.ts';
import { encodeSession } from './session-wire.ts';

/** A number that may be left out. */
export const maybeNumber = z.number().nullable().default(null);

/** `lethe.md` §1.4; a body may also be the snapshot itself. */
export const snapshotShape = z.object({
  open_threads: textsField,
  recent_event_ids: textsField,
  current_task: textField,
  last_tool: textField,
});

/** A snapshot that may be left out. */
export const snapshotField = recordField(snapshotShape).optional();

/** Tags are a list, or a text split on commas and spaces. */
export const tagsField = z.union([textsField, z.string().transform((text) => text.split(/[,\s]+/))]).default([]);

/** The body of an action, which may be left out altogether. */
export function readAction<Shape extends z.ZodObject>({ body }: Asked, shape: Shape): z.infer<Shape> {
  return readBody(body.length === 0 ? Buffer.from('{}') : body, shape);
}

/** Whatever stands in the path under a name, in plain text: a session's key may hold any character. */
export function plainParam(asked: Asked, name: string): string {
  return decodeSegment(param(asked, name), asked.raw);
}

/** `limit` and `offset` of a list: 50 at most 200, from the newest on. */
export function queryPage(asked: Asked): { readonly limit: number; readonly offset: number } {
  const text = queryText(asked, 'offset');
  return { limit: queryLimit(asked, 50, 200, 200), offset: /^\d{1,9}$/.test(text) ? Number(text) : 0 };
}

/** A word of the query out of some; empty when none is asked. Throws INPUT_INVALID. */
export function queryWord<Word extends string>(asked: Asked, name: string, words: readonly Word[]): Word | '' {
  const text = queryText(asked, name);
  const word = words.find((one) => one === text);
  if (word !== undefined) return word;
  if (text === '') return '';
  throw new Fault('INPUT_INVALID', `${name}: it is none of ${words.join(', ')}.`, { field: name });
}

/**
 * The session under which a manifest is kept (`lethe.md` §1.2): where sessions are served, the id of the one that is named by
 * key or id, of the manifest's project; elsewhere what was given. Throws SESSION_NOT_FOUND, INPUT_INVALID.
 */
export function sessionOfManifest({ lethe, mode }: RouteDeps, projectId: string, named: string): string {
  return mode === 'git' || named === '' ? named : lethe.resolveSession(projectId, named);
}

/** A session as a change left it; 409 for one that is completed. */
export function answerOutcome(outcome: SessionOutcome): Answer {
  if (outcome.kind === 'completed') return refusal(409, 'session is completed');
  return json(encodeSession(outcome.session));
}

/** What a snapshot says when nothing is said. */
export const emptySnapshot: Snapshot = { open_threads: [], recent_event_ids: [], current_task: '', last_tool: '' };
