import { z } from 'zod';
import type { Timestamp } from '../../../src-preload/contract/ids.ts';
import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';
import type { ReplayKey } from '../api.ts';

/** A remembered answer: the digest of its request and the ids that it named. */
export interface StoredReplay {
  readonly requestDigest: string;
  readonly answerIds: readonly string[];
}

const answerIdsSchema = z.array(z.string());

/** What was answered under that key. */
export function findStoredReplay(db: ReadableDb, key: ReplayKey): StoredReplay | undefined {
  const row = db
    .query<[string, string, string, string], { request_digest: string; answer_ids: string }>(
      'SELECT request_digest, answer_ids FROM replays WHERE principal_id = ? AND command = ? AND project_id = ? AND key = ?',
    )
    .get(key.principalId, key.command, key.projectId, key.key);
  return row && { requestDigest: row.request_digest, answerIds: answerIdsSchema.parse(JSON.parse(row.answer_ids)) };
}

/** Remembers an answer for ever. */
export function insertReplay(db: WritableDb, key: ReplayKey, replay: StoredReplay, createdAt: Timestamp): void {
  db.command<[string, string, string, string, string, string, string]>(
    'INSERT INTO replays (principal_id, command, project_id, key, request_digest, answer_ids, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
  ).run(
    key.principalId,
    key.command,
    key.projectId,
    key.key,
    replay.requestDigest,
    JSON.stringify(replay.answerIds),
    createdAt,
  );
}
