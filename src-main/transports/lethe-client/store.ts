import { z } from 'zod';
import { changesetSchema, refSchema } from '../../../src-preload/contract/changeset.ts';
import { conflictSchema } from '../../../src-preload/contract/conflict.ts';
import type { EngineEvent } from '../../../src-preload/contract/events.ts';
import { manifestSchema, memoryContextSchema } from '../../../src-preload/contract/memory.ts';
import { Fault } from '../../base/fault.ts';
import type { NamedSecret } from '../../canonical/restore-proof.ts';
import type { MemoryStore } from '../../commands/memory-store.ts';
import type { Upstream } from '../../home/upstream.ts';
import type { AdvanceInput, CommitInput } from '../../lethe/api.ts';
import { contextBody, of, readsOver, segment, sidesBody } from './reads.ts';
import { openWire, type Question, type Wire, type WireTimes } from './wire.ts';

const answers = {
  started: z.object({ changeset: changesetSchema, ref: refSchema, created: z.boolean() }),
  kept: z.object({ conflicts: z.array(conflictSchema) }),
  resolved: z.object({ conflict: conflictSchema }),
  retired: z.object({ retired: z.int() }),
};

/** A store in another process, over its HTTP protocol. */
export interface LetheClient {
  readonly store: MemoryStore;
  close(): void;
}

/**
 * Opens the way to the store that `CHARON_UPSTREAM` names (`charon.md` §7); nothing is sent yet. Every verb answers and refuses as
 * the store of this process would, and throws STORE_UNAVAILABLE when no answer came. Reads are asked again then; a write is not,
 * but for a merge, whose authorization the store takes once. What this client changed is told to `onEvents`; what others change there is not.
 */
export function openLetheClient(options: {
  readonly upstream: Upstream;
  /** The key that merges are signed with: it also signs what gives memories a former state. */
  readonly mergeKey: NamedSecret;
  readonly onEvents: (events: readonly EngineEvent[]) => void;
  /** Milliseconds that only ever grow. */
  readonly monotonicMs: () => number;
  readonly times?: WireTimes | undefined;
}): LetheClient {
  const wire = openWire(options.upstream, options.mergeKey, options.times);
  const reads = readsOver(wire);
  const undecided = trackUndecided(options.monotonicMs);
  const findAdvance: typeof reads.findAdvance = async (by) => {
    const advance = await reads.findAdvance(by);
    if (advance === undefined) undecided.requireDecided(by.proposalId);
    return advance;
  };
  const writes = writesOver(wire, options.onEvents, undecided);
  return { store: { ...reads, ...writes, findAdvance }, close: () => wire.close() };
}

type Writes = Omit<MemoryStore, keyof ReturnType<typeof readsOver>>;
type Tell = (events: readonly EngineEvent[]) => void;

/** Longer than any authorization holds: two minutes, and a minute between two clocks (`lethe.md` §8). Milliseconds. */
const authorizationLifeMs = 200_000;

/** Merges of which no answer came, so that the store may be carrying them out still. */
interface Undecided {
  noAnswer(proposalId: string): void;
  /** Throws STORE_UNAVAILABLE while the authorization of such a merge may yet be taken: that there is no record says nothing then. */
  requireDecided(proposalId: string): void;
}

function trackUndecided(monotonicMs: () => number): Undecided {
  const until = new Map<string, number>();
  return {
    noAnswer: (proposalId) => void until.set(proposalId, monotonicMs() + authorizationLifeMs),
    requireDecided: (proposalId) => {
      const endMs = until.get(proposalId);
      if (endMs === undefined) return;
      if (monotonicMs() < endMs)
        throw new Fault(
          'STORE_UNAVAILABLE',
          'The store of CHARON_UPSTREAM did not answer a merge and may still carry it out. It is settled within minutes.',
        );
      until.delete(proposalId);
    },
  };
}

function writesOver(wire: Wire, tell: Tell, undecided: Undecided): Writes {
  return {
    ...refWrites(wire, tell, undecided),
    ...changesetWrites(wire, tell),
    ...conflictWrites(wire, tell),
    ...pins(wire),
  };
}

function post<Schema extends z.ZodType>(
  wire: Wire,
  path: string,
  body: unknown,
  answer: Schema,
  more: Partial<Question<Schema>> = {},
): Promise<z.output<Schema>> {
  return wire.ask({ method: 'POST', path, body, isRead: false, answer, ...more });
}

function refWrites(
  wire: Wire,
  tell: Tell,
  undecided: Undecided,
): Pick<Writes, 'initProject' | 'createRef' | 'archiveRef' | 'advance'> {
  const told = <Moved extends z.output<typeof refSchema>>(ref: Moved): Moved => {
    const { project_id, ref_name, head_changeset_id } = ref;
    tell([{ kind: 'ref_moved', project_id, ref_name, head_changeset_id }]);
    return ref;
  };
  return {
    initProject: async ({ projectId, principal }) => {
      const started = await post(wire, `${of(projectId)}/start`, { principal }, answers.started);
      if (started.created) tell([{ kind: 'project_created', project_id: projectId }]);
      return started;
    },
    createRef: async ({ projectId, refName, headChangesetId, principal }) => {
      const body = { ref_name: refName, head_changeset_id: headChangesetId, principal };
      return told(await post(wire, `${of(projectId)}/branches`, body, refSchema));
    },
    archiveRef: async ({ projectId, refName, expectedHead, principal }) => {
      const body = { ref_name: refName, expected_head: expectedHead, principal };
      return told(await post(wire, `${of(projectId)}/refs/archive`, body, refSchema));
    },
    advance: async (input) => {
      const { projectId, mergeProposalId: proposalId } = input;
      const ref = told(await moveProtected(wire, input, undecided));
      const advance = await readsOver(wire).findAdvance({ projectId, proposalId });
      if (advance !== undefined) return { ref, advance };
      throw new Fault('STORE_UNAVAILABLE', 'The store of CHARON_UPSTREAM moved a ref and has no record of it.');
    },
  };
}

/**
 * A protected move. When no answer came, the same authorization is sent once more: the store takes it once, so either this
 * moves the ref, or the one before did and the ref is read.
 */
async function moveProtected(
  wire: Wire,
  input: AdvanceInput,
  undecided: Undecided,
): Promise<z.output<typeof refSchema>> {
  const { projectId, refName, expectedHead, newHead, mergeProposalId, reviewerPrincipal, mergeAuthorization } = input;
  const body = {
    ...{ ref_name: refName, expected_head: expectedHead, new_head: newHead, merge_proposal_id: mergeProposalId },
    ...{ reviewer_principal: reviewerPrincipal, merge_authorization: mergeAuthorization },
  };
  const move = () => post(wire, `${of(projectId)}/refs/merge`, body, refSchema);
  try {
    return await move();
  } catch (thrown) {
    if (!(thrown instanceof Fault) || thrown.code !== 'STORE_UNAVAILABLE') throw thrown;
  }
  try {
    return await move();
  } catch (thrown) {
    if (thrown instanceof Fault && thrown.code === 'STORE_UNAVAILABLE') undecided.noAnswer(mergeProposalId);
    if (!(thrown instanceof Fault) || thrown.code !== 'NONCE_CONSUMED') throw thrown;
    const reads = readsOver(wire);
    const advance = await reads.findAdvance({ projectId, proposalId: mergeProposalId });
    const ref = await reads.findRef(projectId, refName);
    if (advance === undefined || ref === undefined) throw thrown;
    return { ...ref, head_changeset_id: advance.new_head, updated_at: advance.created_at };
  }
}

function changesetWrites(wire: Wire, tell: Tell): Pick<Writes, 'commit' | 'commitCreatingRef'> {
  const commit = async (input: CommitInput, createsRef: boolean) => {
    const isProved = input.mayRestore === true;
    const body = { ...commitBody(input), create_ref_if_missing: createsRef };
    const changeset = await post(wire, '/memory/changesets', body, changesetSchema, { isProved });
    const { changeset_id, project_id, ref_name } = changeset;
    tell([{ kind: 'changeset_created', project_id, changeset_id, ref_name }]);
    if (input.advanceRef)
      tell([{ kind: 'ref_moved', project_id, ref_name: input.refName, head_changeset_id: changeset_id }]);
    return changeset;
  };
  return {
    commit: (input) => commit(input, false),
    commitCreatingRef: (input) => commit(input, true),
  };
}

function commitBody(input: CommitInput) {
  return {
    project_id: input.projectId,
    ref_name: input.refName,
    parent_ids: input.parentIds,
    author_principal: input.authorPrincipal,
    persona_id: input.personaId,
    actor_id: input.actorId,
    surface: input.surface,
    model: input.model,
    environment: input.environment,
    session_id: input.sessionId,
    topic_id: input.topicId,
    context_manifest_id: input.contextManifestId,
    message: input.message,
    idempotency_key: input.idempotencyKey,
    ops: input.ops,
    evidence: input.evidence,
    verification: input.verification,
    expected_head: input.expectedHead,
    advance_ref: input.advanceRef,
  };
}

function conflictWrites(
  wire: Wire,
  tell: Tell,
): Pick<Writes, 'persistConflicts' | 'resolveConflict' | 'retireConflicts'> {
  const changed = (projectId: Parameters<MemoryStore['getProject']>[0]): void =>
    tell([{ kind: 'conflicts_changed', project_id: projectId }]);
  return {
    persistConflicts: async ({ sides: { projectId, ...sides }, proposalId, conflictIds, principal }) => {
      if (conflictIds.length === 0) return [];
      const body = { ...sidesBody(sides), proposal_id: proposalId, conflict_ids: conflictIds, principal };
      const { conflicts } = await post(wire, `${of(projectId)}/conflicts/persist`, body, answers.kept);
      changed(projectId);
      return conflicts;
    },
    resolveConflict: async ({ projectId, conflictId, note, principal }) => {
      const body = { resolution_note: note, principal: principal ?? 'gateway' };
      const path = `${of(projectId)}/conflicts/${segment(conflictId)}/resolve`;
      const { conflict } = await post(wire, path, body, answers.resolved);
      changed(projectId);
      return conflict;
    },
    retireConflicts: async ({ projectId, proposalId, status, principal }) => {
      const body = { proposal_id: proposalId, status, principal };
      const { retired } = await post(wire, `${of(projectId)}/conflicts/retire`, body, answers.retired);
      if (retired > 0) changed(projectId);
      return retired;
    },
  };
}

function pins(wire: Wire): Pick<Writes, 'pinContext' | 'recordOutputManifest'> {
  return {
    pinContext: ({ actorId, sessionId, ...input }) => {
      const body = { ...contextBody(input), actor_id: actorId, session_id: sessionId, create_manifest: true };
      return post(wire, `${of(input.projectId)}/context`, body, memoryContextSchema);
    },
    recordOutputManifest: (input) => {
      const body = {
        direction: 'output',
        once: true,
        project_id: input.projectId,
        ref_name: input.refName,
        head_changeset_id: input.headChangesetId,
        base_changeset_id: input.baseChangesetId,
        resulting_changeset_id: input.resultingChangesetId,
        proposed_target_ref: input.proposedTargetRef,
        merge_proposal_id: input.mergeProposalId,
        selected_memory_ids: input.selectedMemoryIds,
        inclusion_reasons: input.inclusionReasons,
        exclusion_reasons: input.exclusionReasons,
        unresolved_conflicts: input.unresolvedConflicts,
        session_id: input.sessionId,
        actor_id: input.actorId,
      };
      return post(wire, '/memory/manifests', body, manifestSchema);
    },
  };
}
