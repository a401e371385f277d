import type { JsonObject, JsonValue } from '../../../src-preload/contract/json.ts';
import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';
import { type ComparableState, listSemanticKeys, semanticKeyNumber, semanticKeyText } from '../rules/detect/keys.ts';
import { isStillEvent, startVersion, type Version } from '../rules/overlay.ts';
import { insertSemanticKey, listMadeStates } from '../tables/semantic-keys.ts';
import { readPayload } from '../tables/versions.ts';
import type { AppliedOps } from './apply.ts';
import { loadVersion } from './state.ts';

const statesPerRead = 1_000;

/** Payload keys that semantic keys are made of. */
const payloadKeys = ['scope', 'subject', 'fact_key'] as const;

/**
 * Keeps by what the states that a changeset made are compared with others (`L175`): one row for each key that a memory did
 * not have before. Part of the commit; cost follows its ops.
 */
export function writeSemanticKeys(
  db: WritableDb,
  projectId: string,
  applied: Pick<AppliedOps, 'touches' | 'versions'>,
): void {
  const grown = new Map(applied.versions.map((version) => [version.version, version]));
  const payloadOf = openPayloads(db);
  for (const { memory, key, version } of applied.touches) {
    if (version !== key) continue;
    const state = grown.get(key) ?? startVersion(key, payloadOf(key));
    insertKeys(db, projectId, memory, state, payloadOf);
  }
}

/** Makes the rows of all states that a store has, in the transaction of the migration that adds them. */
export function fillSemanticKeys(db: WritableDb): void {
  let after = { memory: 0, op: 0 };
  for (;;) {
    const states = listMadeStates(db, after, statesPerRead);
    const payloadOf = openPayloads(db);
    for (const { memory, op, project_id } of states)
      insertKeys(db, project_id, memory, loadVersion(db, op, payloadOf), payloadOf);
    const last = states.at(-1);
    if (last === undefined) return;
    after = last;
  }
}

/**
 * The numbers of the keys of a state. A baseline event has none: it is not compared until a changeset says it (`lethe.md` §7). It is
 * never a fact, nor a decision with a scope or subject of its own, so that nothing which blocks is missed: only duplicates, which
 * are for information.
 * @param payloadOf what an op, or a baseline event, says
 */
export function keyNumbersOf(projectId: string, version: Version, payloadOf: PayloadOf): readonly number[] {
  if (isStillEvent(version)) return [];
  const keys = listSemanticKeys(projectId, readComparable(version, payloadOf));
  return keys.map((key) => semanticKeyNumber(semanticKeyText(projectId, key)));
}

export type PayloadOf = (op: number) => JsonObject;

/** Reads payloads, each once. */
export function openPayloads(db: ReadableDb): PayloadOf {
  const known = new Map<number, JsonObject>();
  return (op) => {
    const payload = known.get(op) ?? readPayload(db, op);
    known.set(op, payload);
    return payload;
  };
}

function insertKeys(db: WritableDb, projectId: string, memory: number, version: Version, payloadOf: PayloadOf): void {
  for (const key of keyNumbersOf(projectId, version, payloadOf))
    insertSemanticKey(db, { key, memory, op: version.version });
}

/** What of a state is compared, read from the payloads of the ops that set it. */
function readComparable({ fields, payload }: Version, payloadOf: PayloadOf): ComparableState {
  const said = (op: number | undefined, key: string): JsonValue | undefined =>
    op === undefined ? undefined : payloadOf(op)[key];
  const content = said(fields.content, 'content');
  const kind = said(fields.kind, 'kind');
  const set = payloadKeys.flatMap((key) => {
    const value = said(payload[key], key);
    return value === undefined ? [] : [[key, value] as const];
  });
  return {
    content: typeof content === 'string' ? content : '',
    ...(typeof kind === 'string' ? { kind } : {}),
    payload: Object.fromEntries(set),
  };
}
