import { z } from 'zod';
import type { Manifest } from '../../../src-preload/contract/memory.ts';
import type { ManifestInput } from '../../lethe/manifest-record.ts';
import { json } from './answer.ts';
import { flagField, readBody, textField, textsField } from './body.ts';
import {
  type Asked,
  asChangeset,
  asManifest,
  asProject,
  invalid,
  param,
  type Route,
  type RouteDeps,
  required,
} from './route.ts';
import { sessionOfManifest } from './session-fields.ts';
import { encodeContext, encodeManifest } from './wire.ts';

const reasonsField = z.record(z.string(), z.string().nullable()).default({});

/** `lethe.md` §2.5; what it does not name is ignored. */
const manifestBody = z.object({
  manifest_id: textField,
  direction: textField,
  project_id: textField,
  ref_name: textField,
  head_changeset_id: textField,
  base_changeset_id: textField,
  resulting_changeset_id: textField,
  proposed_target_ref: textField,
  merge_proposal_id: textField,
  selected_memory_ids: textsField,
  inclusion_reasons: reasonsField,
  exclusion_reasons: reasonsField,
  unresolved_conflicts: textsField,
  session_id: textField,
  actor_id: textField,
  created_at: textField,
  once: flagField,
});

/** Manifests (`lethe.md` §1.2, §2.5, §0.5). Static places: they come before the routes of projects. */
export function manifestRoutes(deps: RouteDeps): readonly Route[] {
  const { lethe } = deps;
  const getOne = (asked: Asked): Manifest => lethe.getManifest(asManifest(param(asked, 'id')));
  return [
    {
      method: 'POST',
      pattern: '/memory/manifests',
      answer: async (asked) => json(encodeManifest(await record(deps, asked)), 201),
    },
    {
      method: 'GET',
      pattern: '/memory/manifests/{id}',
      answer: (asked) => json(encodeManifest(getOne(asked))),
    },
    {
      method: 'GET',
      pattern: '/memory/manifests/{id}/context',
      answer: (asked) => {
        const { project_id: project, manifest_id: id } = getOne(asked);
        return json(encodeContext(lethe.manifestContext(project, id)));
      },
    },
  ];
}

/** Keeps a manifest; with `once`, an output that is kept already is answered as it is. */
function record(deps: RouteDeps, asked: Asked): Promise<Manifest> {
  const body = readBody(asked.body, manifestBody);
  const input = inputOf(deps, body);
  if (!body.once) return deps.lethe.recordManifest(input);
  return deps.lethe.recordOutputManifest({
    ...input,
    mergeProposalId: required('merge_proposal_id', body.merge_proposal_id),
  });
}

function inputOf(deps: RouteDeps, body: z.infer<typeof manifestBody>): ManifestInput {
  const projectId = asProject(required('project_id', body.project_id));
  const optional = <Value>(text: string, as: (text: string) => Value): Value | undefined =>
    text === '' ? undefined : as(text);
  const same = (text: string): string => text;
  return {
    direction: directionOf(required('direction', body.direction)),
    projectId,
    refName: required('ref_name', body.ref_name),
    headChangesetId: asChangeset(required('head_changeset_id', body.head_changeset_id)),
    baseChangesetId: optional(body.base_changeset_id, asChangeset),
    resultingChangesetId: optional(body.resulting_changeset_id, asChangeset),
    proposedTargetRef: body.proposed_target_ref,
    mergeProposalId: body.merge_proposal_id,
    selectedMemoryIds: body.selected_memory_ids,
    inclusionReasons: reasonsOf(body.inclusion_reasons),
    exclusionReasons: reasonsOf(body.exclusion_reasons),
    unresolvedConflicts: body.unresolved_conflicts,
    sessionId: sessionOfManifest(deps, projectId, body.session_id),
    actorId: body.actor_id,
    manifestId: optional(body.manifest_id, same),
    createdAt: optional(body.created_at, same),
  };
}

function directionOf(text: string): ManifestInput['direction'] {
  if (text === 'input' || text === 'output') return text;
  throw invalid('direction', 'direction must be input or output');
}

/** A reason that is null is an empty one. */
function reasonsOf(reasons: Readonly<Record<string, string | null>>): Record<string, string> {
  return Object.fromEntries(Object.entries(reasons).map(([id, reason]) => [id, reason ?? '']));
}
