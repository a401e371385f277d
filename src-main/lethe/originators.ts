import { compareUtf8 } from '../canonical/text.ts';
import type { ReadableDb } from '../sqlite/driver.ts';
import { openSight, rangesBeyond } from './projection/sight.ts';
import { findChangesetRow, listAuthorsOfRun } from './tables/changesets.ts';
import { findImportedChangeset } from './tables/imports.ts';

/**
 * Authors of the changesets that moving from one changeset to another brings in, each once, in byte order
 * (`lethe.md` §0.1). Cost follows what is brought in.
 */
export function listOriginators(db: ReadableDb, fromSeq: number, toSeq: number): readonly string[] {
  const sight = openSight(db);
  const authors = new Set<string>();
  for (const run of rangesBeyond(sight, sight.places.get(toSeq), sight.places.get(fromSeq))) {
    const after = run.after === 0 ? -1 : sight.places.get(run.after).position;
    for (const author of listAuthorsOfRun(db, run.chain, after, sight.places.get(run.upTo).position))
      authors.add(author);
  }
  return [...authors].sort(compareUtf8);
}

/** Authors of the changesets that a cherry_pick was picked from, each once, in byte order (`lethe.md` §0.1). */
export function listAuthorsOfPicked(db: ReadableDb, changesetIds: readonly string[]): readonly string[] {
  const authors = changesetIds.flatMap((id) => {
    const row = findChangesetRow(db, id);
    if (row === undefined) return [];
    return findImportedChangeset(db, row.seq) === undefined ? row.author_principal : `imported:${row.author_principal}`;
  });
  return [...new Set(authors)].sort(compareUtf8);
}
