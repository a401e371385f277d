import type { Op } from '../../../../src-preload/contract/changeset.ts';

/** An op of a changeset that only one side has, with what its changeset says of itself. Absent texts are empty. */
export interface SideOp {
  readonly op: Op;
  readonly changesetId: string;
  readonly projectId: string;
  readonly refName: string;
  readonly topicId: string;
  readonly actorId: string;
  /** The memories that it touched. */
  readonly memoryIds: readonly string[];
}

/** A text of the op's payload; empty when it is absent or something else. */
export function payloadText({ op }: Pick<SideOp, 'op'>, key: string): string {
  const value = op.payload?.[key];
  return typeof value === 'string' ? value : '';
}
