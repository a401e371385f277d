import type { MergeEnvelope } from '../../src-main/canonical/signature.ts';
import type { AdvanceInput } from '../../src-main/lethe/api.ts';
import type { Changeset } from '../../src-preload/contract/changeset.ts';
import type { HistoryBuilder, TempLethe } from './history-builder.ts';
import { advanceInput, authorize, mergeEnvelope } from './merge-envelope.ts';

/** What became of one signed authorization. */
export interface SpentAuthorization {
  readonly outcome: string;
  readonly refusal: string;
}

/** Every authorization that the store has spent, by nonce. */
export function authorizationsOf(temp: TempLethe): SpentAuthorization[] {
  return temp.db
    .query<[], SpentAuthorization>('SELECT outcome, refusal FROM memory_merge_authorizations ORDER BY nonce')
    .all();
}

/** How many rows a table has. */
export function countRowsOf(temp: TempLethe, table: string): number {
  return temp.db.query<[], { count: number }>(`SELECT count(*) AS count FROM ${table}`).get()?.count ?? -1;
}

/** The signed request of a move of main to a changeset, with the envelope or the request changed. */
export function requestToMove(
  temp: TempLethe,
  history: HistoryBuilder,
  next: Changeset,
  more: Partial<MergeEnvelope> = {},
  input: Partial<AdvanceInput> = {},
): AdvanceInput {
  const move = { project: history.project, expected: history.head('refs/shared/main'), next: next.changeset_id };
  return advanceInput(move, authorize(mergeEnvelope(temp, move, more)), input);
}
