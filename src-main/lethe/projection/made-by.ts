import type { Op } from '../../../src-preload/contract/changeset.ts';
import { changesetIdSchema, timestampSchema } from '../../../src-preload/contract/ids.ts';
import type { LineageStep } from '../../../src-preload/contract/memory.ts';
import { assert } from '../../base/assert.ts';
import type { ReadableDb } from '../../sqlite/driver.ts';
import { seqOf } from '../rules/numbers.ts';
import { findChangesetRowBySeq } from '../tables/changesets.ts';
import { decodeOp, findOpRow } from '../tables/ops.ts';

/** An op with the changeset that it stands in, as far as what it did is told to people. */
export interface MadeBy
  extends Pick<LineageStep, 'changeset_id' | 'author_principal' | 'actor_id' | 'model' | 'message' | 'created_at'> {
  readonly op: Op;
}

/** The op of a number with its changeset's attribution. */
export function readMadeBy(db: ReadableDb, opNumber: number): MadeBy {
  const stored = findOpRow(db, opNumber);
  const changeset = findChangesetRowBySeq(db, seqOf(opNumber));
  assert(stored !== undefined && changeset !== undefined, 'an op number of the index stands for a stored op');
  return {
    op: decodeOp(stored),
    changeset_id: changesetIdSchema.parse(changeset.changeset_id),
    author_principal: changeset.author_principal,
    ...(changeset.actor_id === '' ? {} : { actor_id: changeset.actor_id }),
    ...(changeset.model === '' ? {} : { model: changeset.model }),
    message: changeset.message,
    created_at: timestampSchema.parse(changeset.created_at),
  };
}
