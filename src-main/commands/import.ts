import { isAbsolute } from 'node:path';
import type { ImportPlanOutput } from '../../src-preload/contract/commands/import.ts';
import { type ChangesetId, mainRefName, type ProjectId, type ProposalId } from '../../src-preload/contract/ids.ts';
import { Fault } from '../base/fault.ts';
import type { Caller } from '../charon/api.ts';
import type { Lethe } from '../lethe/api.ts';
import { findProposable, type ImportPlan } from '../lethe/import/plan.ts';
import { type BoundCommand, bind, rowOf } from './bind.ts';
import { type CommandDeps, isElsewhere } from './deps.ts';

type Proposed = { readonly project: ProjectId; readonly proposal_id: ProposalId };

/**
 * Bringing in reference databases. An import is one transaction, however long it takes: it is for the command line that opened
 * the files itself, when nobody else waits for the store.
 */
export function importCommands(deps: CommandDeps): readonly BoundCommand[] {
  const { onProgress } = deps;
  return [
    bind(rowOf('store.inspect_import'), {
      check: ({ file }) => requireAbsolute(file),
      prepare: ({ caller }) => requireAlone(caller),
      run: async ({ input }) => toPlanOutput(await filesOf(deps).inspectImport({ path: input.file, onProgress })),
    }),
    bind(rowOf('store.import'), {
      check: ({ file }) => requireAbsolute(file),
      prepare: ({ caller }) => requireAlone(caller),
      objects: ({ content_digest: digest }) => [digest],
      run: async ({ input, caller, requestDigest }) => {
        const lethe = filesOf(deps);
        const plan = await lethe.importFile({
          path: input.file,
          contentDigest: input.content_digest,
          principal: caller.principal.principal_id,
          onProgress,
        });
        while (await lethe.maintain());
        return { ...toPlanOutput(plan), ...(await proposeLanded(deps, caller, plan, requestDigest)) };
      },
      effects: ({ projects, proposals }) => [
        ...projects.flatMap(({ project, refs }) => [
          project,
          ...refs.flatMap(({ lands_as: name, head_changeset_id: head }) => [name, head]),
        ]),
        ...proposals.map(({ proposal_id: id }) => id),
      ],
    }),
  ];
}

function requireAbsolute(file: string): void {
  if (!isAbsolute(file)) throw new Fault('INPUT_INVALID', 'file must be an absolute path.', { field: 'file' });
}

/** The store's own files. Throws IMPORT_REFUSED where the memory is in another process. */
function filesOf(deps: CommandDeps): Lethe {
  if (!isElsewhere(deps)) return deps.files;
  throw new Fault(
    'IMPORT_REFUSED',
    'The memory is in another process (CHARON_UPSTREAM). Import into the home of that store, while it is not served.',
    { variable: 'CHARON_UPSTREAM' },
  );
}

function requireAlone(caller: Caller): void {
  if (caller.door === 'files') return;
  throw new Fault(
    'HOME_LOCKED',
    'Memory Git is running and holds this home. An import needs it alone: quit Memory Git, then run lethe import again.',
  );
}

/** A plan in the form in which it crosses a door. */
export function toPlanOutput(plan: ImportPlan): ImportPlanOutput {
  return {
    content_digest: plan.contentDigest,
    nothing_new: plan.isEmpty,
    ...(plan.importedAt === undefined ? {} : { imported_at: plan.importedAt }),
    projects: plan.projects.map((project) => ({
      project: project.foreign.projectId,
      mode: project.mode,
      new_changesets: project.newChangesets,
      known_changesets: project.knownChangesets,
      new_events: project.newEvents,
      known_refs: project.knownRefs,
      refs: project.refs.map(({ ref, landsAs, isProtected }) => ({
        ref_name: ref.refName,
        lands_as: landsAs,
        head_changeset_id: ref.head,
        protected: isProtected,
      })),
    })),
    new_session_rows: plan.newSessionRows,
    new_records: plan.newRecords,
  };
}

/** Proposes what landed of a file's main refs to the main refs that are here. What cannot be proposed is said, and stays where it landed. */
async function proposeLanded(
  deps: CommandDeps,
  caller: Caller,
  plan: ImportPlan,
  requestDigest: string,
): Promise<{ readonly proposals: Proposed[]; readonly notes: string[] }> {
  const proposals: Proposed[] = [];
  const notes: string[] = [];
  for (const project of plan.isEmpty ? [] : plan.projects) {
    const landed = findProposable(project);
    if (landed === undefined) continue;
    const { projectId } = project.foreign;
    try {
      const { base, head } = await joinToRoot(deps, caller, projectId, landed, plan.contentDigest);
      const proposal = await deps.charon.propose(
        caller,
        {
          projectId,
          targetRef: mainRefName,
          headChangesetId: head,
          baseChangesetId: base,
          message: `Imported memory, from ${landed.refName}`,
          kind: 'memory',
        },
        {
          key: {
            principalId: caller.principal.principal_id,
            command: 'store.import',
            projectId,
            key: plan.contentDigest,
          },
          requestDigest,
        },
      );
      proposals.push({ project: projectId, proposal_id: proposal.proposal_id });
    } catch (thrown) {
      if (!(thrown instanceof Fault) || thrown.kind === 'unavailable') throw thrown;
      notes.push(`${landed.refName} of ${projectId} was not proposed: ${thrown.message}`);
    }
  }
  return { proposals, notes };
}

/**
 * A proposal's two sides have a common ancestor. A history that began elsewhere is joined to the root of the project by a changeset
 * of the importer's on the landed ref, which changes no memory.
 */
async function joinToRoot(
  { lethe }: CommandDeps,
  caller: Caller,
  projectId: ProjectId,
  landed: NonNullable<ReturnType<typeof findProposable>>,
  contentDigest: string,
): Promise<{ readonly base: ChangesetId; readonly head: ChangesetId }> {
  const principal = caller.principal.principal_id;
  const { changeset: root } = await lethe.initProject({ projectId, principal });
  const base = root.changeset_id;
  if (await lethe.isAncestor(base, landed.head)) return { base, head: landed.head };
  const joined = await lethe.commit({
    projectId,
    refName: landed.refName,
    parentIds: [landed.head, base],
    authorPrincipal: principal,
    actorId: caller.principal.actor_id,
    message: 'Join an imported history to this project',
    idempotencyKey: `import:${contentDigest}`,
    ops: [
      {
        ordinal: 0,
        op_type: 'attach_verification',
        payload: { kind: 'import', summary: 'imported from a reference database', source_changeset_id: landed.head },
      },
    ],
    expectedHead: landed.head,
    advanceRef: true,
  });
  return { base, head: joined.changeset_id };
}
