import { type Finding, noStates } from './finding.ts';
import { payloadText, type SideOp } from './side-op.ts';

/** A correction or replacement by inference of what a person had approved (`lethe.md` §7 row 8). */
export function detectTrustDowngrade(op: SideOp): readonly Finding[] {
  const { op_type, target_event_id } = op.op;
  const target = payloadText(op, 'target_trust');
  const source = payloadText(op, 'source_trust');
  const isReplacing = op_type === 'correct_memory' || op_type === 'supersede_memory';
  const isInferred = source === 'inference' || source === 'model_inference';
  if (!isReplacing || target !== 'user_approved' || !isInferred) return [];
  return [
    {
      type: 'trust_downgrade',
      severity: 'blocking',
      summary: `What a person approved is replaced by ${source}`,
      details: {
        changeset_id: op.changesetId,
        target_event_id: target_event_id ?? '',
        target_trust: target,
        source_trust: source,
      },
      memoryIds: op.memoryIds,
      left: noStates,
      right: noStates,
    },
  ];
}
