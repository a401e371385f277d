import type { Severity } from '../../../../src-preload/contract/conflict.ts';
import type { JsonObject } from '../../../../src-preload/contract/json.ts';
import { type Finding, noStates } from './finding.ts';
import { payloadText, type SideOp } from './side-op.ts';

/**
 * An op that says it belongs elsewhere than its changeset (`lethe.md` §7 row 6): to another project, which blocks, to another
 * topic or to another actor. On a ref of an agent or of its session the actor is the one that the ref is named after (§0.7).
 */
export function detectBoundaryViolation(op: SideOp): readonly Finding[] {
  const project = payloadText(op, 'project_id');
  const topic = payloadText(op, 'topic_id');
  const found: Finding[] = [];
  if (project !== '' && project !== op.projectId)
    found.push(violation(op, 'blocking', 'project', { payload_project: project, cs_project: op.projectId }));
  if (topic !== '' && op.topicId !== '' && topic !== op.topicId)
    found.push(violation(op, 'warning', 'topic', { payload_topic: topic, cs_topic: op.topicId }));
  return [...found, ...detectForeignActor(op)];
}

function detectForeignActor(op: SideOp): readonly Finding[] {
  const actor = payloadText(op, 'actor_id');
  const owner = /^refs\/(?:agents|sessions)\/([^/]+)/.exec(op.refName)?.[1] ?? '';
  const isForeignToChangeset = op.actorId !== '' && actor !== op.actorId;
  const isForeignToRef = owner !== '' && actor !== owner;
  if (actor === '' || !(isForeignToChangeset || isForeignToRef)) return [];
  return [
    violation(op, 'warning', 'actor', {
      payload_actor: actor,
      cs_actor: op.actorId,
      ...(isForeignToRef ? { ref_actor: owner } : {}),
    }),
  ];
}

function violation(op: SideOp, severity: Severity, boundary: string, crossed: JsonObject): Finding {
  return {
    type: 'boundary_violation',
    severity,
    summary: `An operation names another ${boundary} than the one it was committed under`,
    details: { changeset_id: op.changesetId, ...crossed },
    memoryIds: op.memoryIds,
    left: noStates,
    right: noStates,
  };
}
