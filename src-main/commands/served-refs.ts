import type { Ref } from '../../src-preload/contract/changeset.ts';
import { mainRefName, type ProjectId, type RefName } from '../../src-preload/contract/ids.ts';
import { Fault } from '../base/fault.ts';
import type { Caller } from '../charon/api.ts';
import { isProtectedRef, ownsRef } from '../charon/rules/ref-ownership.ts';
import { refNotFound } from './faults.ts';
import type { MemoryStore } from './memory-store.ts';

/** The ref of that name, `refs/shared/main` when none is named. Throws PROJECT_NOT_FOUND, REF_NOT_FOUND. */
export async function getRef(lethe: MemoryStore, projectId: ProjectId, named: RefName | undefined): Promise<Ref> {
  const refName = named ?? mainRefName;
  await lethe.getProject(projectId);
  const ref = await lethe.findRef(projectId, refName);
  if (ref === undefined) throw refNotFound(refName, 'ref');
  return ref;
}

/**
 * Context and search serve shared refs and the caller's own; the owner, every ref (`charon.md` §1). Log, show and diff
 * know no such bound. Throws PROJECT_NOT_FOUND, REF_NOT_FOUND, NOT_REF_OWNER.
 */
export async function getServedRef(
  lethe: MemoryStore,
  caller: Caller,
  projectId: ProjectId,
  named: RefName | undefined,
): Promise<Ref> {
  const ref = await getRef(lethe, projectId, named);
  if (
    isProtectedRef(ref.ref_name) ||
    caller.credential.kind === 'owner' ||
    ownsRef(caller.principal, ref.ref_name, ref.created_by_principal)
  )
    return ref;
  throw new Fault(
    'NOT_REF_OWNER',
    'ref: context and search serve shared refs and your own. Its history can be read with memory_log, memory_show and memory_diff.',
    {
      field: 'ref',
      ref: ref.ref_name,
    },
  );
}
