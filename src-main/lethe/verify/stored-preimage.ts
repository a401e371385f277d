import { encodePlain } from '../../canonical/json.ts';
import { ordinalOf } from '../rules/numbers.ts';
import type { StoredChangeset } from './changesets.ts';

/**
 * The bytes under the integrity digest of a changeset (`lethe.md` §3.1), put together from the JSON texts as they are stored instead
 * of taking them apart and writing them anew: where they are in their one form, which a digest that holds says, it is the same as
 * `integrityPreimage`, at a third of the cost. Where they are not, the digest does not hold.
 */
export function storedPreimage({ row, parents, ops, attestations }: StoredChangeset): string {
  const lists = { evidence: '', verification: '' };
  for (const { list, body } of attestations) lists[list] += lists[list] === '' ? body : `,${body}`;
  const text = encodePlain;
  return (
    `{"actor_id":${text(row.actor_id)},"author_principal":${text(row.author_principal)}` +
    `,"context_manifest_id":${text(row.context_manifest_id ?? '')},"environment":${text(row.environment)}` +
    `,"evidence":[${lists.evidence}],"idempotency_key":${text(row.idempotency_key)},"message":${text(row.message)}` +
    `,"model":${text(row.model)},"ops":[${opsText(ops)}]` +
    `,"parent_ids":${parents.length === 0 ? 'null' : `[${parents.map((parent) => text(parent.changeset_id)).join()}]`}` +
    `,"persona_id":${text(row.persona_id)},"project_id":${text(row.project_id)},"ref_name":${text(row.ref_name)}` +
    `,"schema_version":${text(row.schema_version)},"session_id":${text(row.session_id)},"surface":${text(row.surface)}` +
    `,"topic_id":${text(row.topic_id)},"verification":[${lists.verification}]}`
  );
}

function opsText(ops: StoredChangeset['ops']): string {
  let joined = '';
  for (const { op, op_type: type, target_event_id: target, resulting_event_id: resulting, body } of ops) {
    if (joined !== '') joined += ',';
    joined += `{"ordinal":${ordinalOf(op)},"op_type":${encodePlain(type)}`;
    if (target !== null) joined += `,"target_event_id":${encodePlain(target)}`;
    if (resulting !== null) joined += `,"resulting_event_id":${encodePlain(resulting)}`;
    joined += body === null || body === '{}' ? '}' : `,"payload":${body}}`;
  }
  return joined;
}
