import { Fault } from '../../base/fault.ts';

/** The one refusal of a semantic operation, with the text of `lethe.md` §4: deterministic, so the same input always reads the same. */
export function opInvalid(index: number, opType: string, reason: string): Fault {
  return new Fault('OP_INVALID', `invalid semantic operation: ops[${index}] (${opType}): ${reason}`, {
    op_index: index,
    op_type: opType,
    reason,
  });
}

/** A caller's id or key as it may stand in a message: at most 200 characters of it. */
export function quoted(text: string): string {
  const wellFormed = text.toWellFormed();
  return JSON.stringify(wellFormed.length > 200 ? `${wellFormed.slice(0, 199)}…`.toWellFormed() : wellFormed);
}
