import type { ChangesetId } from '../../../src-preload/contract/ids.ts';
import type { JsonObject } from '../../../src-preload/contract/json.ts';
import type { AcceptedMemory } from '../../../src-preload/contract/memory.ts';
import type { ReadableDb } from '../../sqlite/driver.ts';
import { seqOf } from '../rules/numbers.ts';
import { readVersion } from '../rules/overlay.ts';
import type { Touch } from '../tables/touches.ts';
import { readPayload } from '../tables/versions.ts';
import { changesetIdOf, memoryIdOf } from './identity.ts';
import { loadVersion } from './state.ts';

/** Builds memories as they cross the border; ids and payloads that several share are read once. */
export interface AcceptedReader {
  /** The memory in the state that a touch left it in. */
  read(touch: Touch): AcceptedMemory;
}

/** Opens a reader for one verb. Each memory costs its id, its version and the payloads of the ops that made it. */
export function openAccepted(db: ReadableDb): AcceptedReader {
  const changesetIds = new Map<number, ChangesetId>();
  const payloads = new Map<number, JsonObject>();
  const changesetId = (seq: number): ChangesetId => memoized(changesetIds, seq, () => changesetIdOf(db, seq));
  const payloadOf = (op: number): JsonObject => memoized(payloads, op, () => readPayload(db, op));
  return {
    read: (touch) => {
      const version = loadVersion(db, touch.version, payloadOf);
      const { content, payload, ...fields } = readVersion(version, payloadOf);
      return {
        memory_id: memoryIdOf(db, touch.memory, changesetId),
        content,
        ...fields,
        status: touch.status === 'blank' ? 'active' : touch.status,
        source: 'memory_git',
        introduced_changeset_id: changesetId(seqOf(version.introduced)),
        last_changeset_id: changesetId(seqOf(version.version)),
        ...(payload === undefined ? {} : { payload }),
      };
    },
  };
}

function memoized<Value>(known: Map<number, Value>, key: number, read: () => Value): Value {
  const cached = known.get(key);
  if (cached !== undefined) return cached;
  const value = read();
  known.set(key, value);
  return value;
}
