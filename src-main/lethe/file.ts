import type { ChangesetId, Digest, ProjectId, RefName } from '../../src-preload/contract/ids.ts';
import { digestSchema, mainRefName } from '../../src-preload/contract/ids.ts';
import { assert } from '../base/assert.ts';
import type { ReadableDb } from '../sqlite/driver.ts';
import { openSight, sees } from './projection/sight.ts';
import { countChangesets, findChangesetRowBySeq } from './tables/changesets.ts';
import { findChangesetSeq } from './tables/memory-ids.ts';
import { listProjects } from './tables/projects.ts';
import { listHeadKeys } from './tables/ref-moves.ts';
import { findRef, listRefs } from './tables/refs.ts';

/** One project of a store as a backup names it: how much history it has, and where every ref stands. */
export interface ProjectHeads {
  readonly project_id: ProjectId;
  readonly changesets: number;
  readonly refs: {
    readonly ref_name: RefName;
    readonly head_changeset_id: ChangesetId;
    readonly chain_digest: Digest;
  }[];
}

const refsPerPage = 500;

/** Every project of a store with every ref, archived ones too, in the order of their names. One state, read at once. */
export function readHeads(db: ReadableDb): readonly ProjectHeads[] {
  return db.reading(() =>
    listProjects(db).map(({ project_id: projectId }) => ({
      project_id: projectId,
      changesets: countChangesets(db, projectId),
      refs: readRefs(db, projectId),
    })),
  );
}

function readRefs(db: ReadableDb, projectId: ProjectId): ProjectHeads['refs'] {
  const refs: ProjectHeads['refs'] = [];
  for (let after = ''; ; ) {
    const page = listRefs(db, projectId, after, refsPerPage, 'all');
    for (const { ref, headSeq } of page) {
      const head = findChangesetRowBySeq(db, headSeq);
      assert(head !== undefined, 'the head of a ref is a changeset');
      refs.push({
        ref_name: ref.ref_name,
        head_changeset_id: ref.head_changeset_id,
        chain_digest: digestSchema.parse(head.chain_digest),
      });
    }
    after = page.at(-1)?.ref.ref_name ?? after;
    if (page.length < refsPerPage) return refs;
  }
}

/** Whether a changeset is part of what the main ref of its project says. */
export function isOnMain(db: ReadableDb, projectId: ProjectId, changesetId: string): boolean {
  const seq = findChangesetSeq(db, projectId, changesetId);
  const main = findRef(db, projectId, mainRefName);
  return seq !== undefined && main !== undefined && sees(openSight(db), main.headSeq, seq);
}

/** The public keys that ever signed the moves of this store's refs. */
export function readHeadKeys(db: ReadableDb): ReadonlySet<string> {
  return new Set(listHeadKeys(db).map(({ public_key: key }) => key));
}
