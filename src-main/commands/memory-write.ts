import type { Changeset } from '../../src-preload/contract/changeset.ts';
import type { ParsedInput } from '../../src-preload/contract/commands/table.ts';
import { Fault } from '../base/fault.ts';
import type { CommitInput } from '../lethe/api.ts';
import { type BoundCommand, bind, type Call, rowOf } from './bind.ts';
import { withoutBulk } from './changeset-page.ts';
import type { CommandDeps } from './deps.ts';
import { changesetNotFound, refNotFound } from './faults.ts';
import { chainOf } from './moves.ts';

type Commit = ParsedInput<'memory.changeset_create'>;

/** Commands that write memory to branches: never to a protected ref. */
export function memoryWriteCommands({ lethe, charon }: CommandDeps): readonly BoundCommand[] {
  return [
    bind(rowOf('memory.repo_init'), {
      run: async ({ input, caller }) => {
        const { changeset, ref } = await lethe.initProject({
          projectId: input.project,
          principal: caller.principal.principal_id,
        });
        return { changeset, ref };
      },
      effects: ({ changeset, ref }) => [ref.ref_name, ref.head_changeset_id, changeset.chain_digest],
    }),
    bind(rowOf('memory.branch_create'), {
      objects: (input) => [input.ref_name, input.head_changeset_id],
      prepare: async ({ input, caller }) => {
        await lethe.getProject(input.project);
        const head = await lethe.findChangeset(input.head_changeset_id);
        if (head?.project_id !== input.project) throw changesetNotFound(input.head_changeset_id, 'head_changeset_id');
        charon.requireCreatableRef(caller, input.ref_name);
        if ((await lethe.findRef(input.project, input.ref_name)) !== undefined) {
          throw new Fault(
            'REF_EXISTS',
            'ref_name: the project already has a ref of that name. Commit to it if it is yours, or take another name.',
            { field: 'ref_name', ref: input.ref_name },
          );
        }
      },
      run: ({ input, caller }) =>
        lethe.createRef({
          projectId: input.project,
          refName: input.ref_name,
          headChangesetId: input.head_changeset_id,
          principal: caller.principal.principal_id,
        }),
      effects: (ref) => chainOf(lethe, ref.head_changeset_id),
    }),
    bind(rowOf('memory.changeset_create'), {
      check: checkOrdinals,
      objects: (input) => [input.ref],
      // The store keeps the key of a commit itself, in the transaction of the commit: a replay is asked of it.
      replay: async (call) => {
        const { input, caller } = call;
        const known = await lethe.findChangesetByKey(
          input.project,
          caller.principal.principal_id,
          input.idempotency_key,
        );
        return known === undefined ? undefined : withoutOps(await lethe.commit(commitInput(call)));
      },
      prepare: async ({ input, caller }) => {
        await lethe.getProject(input.project);
        const ref = await lethe.findRef(input.project, input.ref);
        if (ref === undefined) throw refNotFound(input.ref, 'ref');
        charon.requireOwnedRef(caller, input.ref, ref.created_by_principal);
        if (ref.head_changeset_id === input.expected_head) return;
        // The same request may have landed since the replay was looked for; then the store answers it again.
        if (await lethe.findChangesetByKey(input.project, caller.principal.principal_id, input.idempotency_key)) return;
        throw new Fault(
          'REF_MOVED',
          'expected_head: the ref has moved. Read it again, look at what is new, and commit on its present head.',
          {
            field: 'expected_head',
            ref: input.ref,
            expected: input.expected_head,
            actual: ref.head_changeset_id,
          },
        );
      },
      run: async (call) => withoutOps(await lethe.commit(commitInput(call))),
      effects: (changeset) => [changeset.changeset_id, changeset.chain_digest],
    }),
  ];
}

/** Ordinals are explicit, 0..n-1 in order (`charon.md` §3). */
function checkOrdinals(input: Commit): void {
  const wrong = input.ops.findIndex((op, index) => op.ordinal !== index);
  if (wrong < 0) return;
  throw new Fault(
    'INPUT_INVALID',
    `ops.${wrong}.ordinal: must be ${wrong}: ordinals count from 0 in the order of the ops.`,
    { field: `ops.${wrong}.ordinal` },
  );
}

/** Who writes comes from the credential, never from the input. */
function commitInput({ input, caller }: Call<Commit>): CommitInput {
  return {
    projectId: input.project,
    refName: input.ref,
    parentIds: input.parent_ids,
    authorPrincipal: caller.principal.principal_id,
    actorId: caller.principal.actor_id,
    personaId: input.persona_id,
    surface: input.surface,
    model: input.model,
    environment: input.environment,
    sessionId: input.session_id,
    topicId: input.topic_id,
    contextManifestId: input.context_manifest_id,
    message: input.message,
    idempotencyKey: input.idempotency_key,
    ops: input.ops,
    evidence: input.evidence,
    verification: input.verification,
    expectedHead: input.expected_head,
    advanceRef: true,
  };
}

/** What a commit is answered with: the changeset but for what was just sent, as far as that would fill a result. */
function withoutOps(changeset: Changeset): Omit<Changeset, 'ops'> {
  const { ops, ...rest } = changeset;
  return withoutBulk(rest);
}
