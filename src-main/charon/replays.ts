import { toTimestamp } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import type { ReadableDb, WritableDb } from '../sqlite/driver.ts';
import type { ReplayKey } from './api.ts';
import { type CharonContext, write } from './context.ts';
import { findStoredReplay, insertReplay } from './tables/replays.ts';

/** A request with the key that its caller gave it. */
export interface KeyedRequest {
  readonly key: ReplayKey;
  readonly requestDigest: string;
}

/**
 * The ids of the answer that the same request got before, or undefined for a new key (`charon.md` §3 Idempotency).
 * Throws `IDEMPOTENCY_MISMATCH` when the key was used for another request.
 */
export function findReplay(db: ReadableDb, request: KeyedRequest): readonly string[] | undefined {
  const stored = findStoredReplay(db, request.key);
  if (stored === undefined) return undefined;
  if (stored.requestDigest === request.requestDigest) return stored.answerIds;
  throw new Fault(
    'IDEMPOTENCY_MISMATCH',
    'idempotency_key was used for another request. Use a new key, or repeat the first request unchanged.',
    {
      field: 'idempotency_key',
    },
  );
}

/** Inside a verb: remembers the answer with what the verb writes; the same answer again changes nothing. */
export function keepReplay(db: WritableDb, request: KeyedRequest, answerIds: readonly string[], nowMs: number): void {
  if (findReplay(db, request) !== undefined) return;
  insertReplay(db, request.key, { requestDigest: request.requestDigest, answerIds }, toTimestamp(nowMs));
}

/** Remembers an answer of its own. Throws `IDEMPOTENCY_MISMATCH`. */
export function rememberReplay(
  context: CharonContext,
  request: KeyedRequest,
  answerIds: readonly string[],
): Promise<void> {
  return write(context, (db) => keepReplay(db, request, answerIds, context.clock.nowMs()));
}
