import type { ChangesetId, ProjectId } from '../../src-preload/contract/ids.ts';
import type { ReadableDb } from '../sqlite/driver.ts';
import { changesetNotFound, getChangesetRow } from './changeset-rows.ts';
import { countChangesetsOf, openSight, rangesBeyond } from './projection/sight.ts';

/** How far two heads are apart, in changesets that the one has and the other has not. */
export interface AheadBehind {
  readonly ahead: number;
  readonly behind: number;
}

/**
 * How far heads stand ahead of a base head and behind it, in their order. Counted from runs of chains, never by a walk
 * (`L117`). Throws CHANGESET_NOT_FOUND, also for a changeset of another project.
 */
export function countAheadBehind(
  db: ReadableDb,
  input: { readonly projectId: ProjectId; readonly base: ChangesetId; readonly heads: readonly ChangesetId[] },
): readonly AheadBehind[] {
  const sight = openSight(db);
  const placeOf = (changesetId: ChangesetId, field: string) => {
    const row = getChangesetRow(db, changesetId, field);
    if (row.project_id !== input.projectId) throw changesetNotFound(changesetId, field);
    return sight.places.get(row.seq);
  };
  const base = placeOf(input.base, 'base');
  return input.heads.map((changesetId, index) => {
    const head = placeOf(changesetId, `heads[${index}]`);
    return {
      ahead: countChangesetsOf(rangesBeyond(sight, head, base)),
      behind: countChangesetsOf(rangesBeyond(sight, base, head)),
    };
  });
}
