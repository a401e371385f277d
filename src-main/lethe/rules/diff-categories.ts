import type { Op, OpType } from '../../../src-preload/contract/changeset.ts';
import type { DiffCategory } from '../../../src-preload/contract/diff.ts';
import type { AcceptedMemory } from '../../../src-preload/contract/memory.ts';
import { utf8Length } from '../../canonical/text.ts';

/** Longest summary that is taken from content, in bytes of UTF-8 (`lethe.md` §6). */
export const summaryContentBytesMax = 120;

type State = Pick<AcceptedMemory, 'content' | 'kind' | 'event_type' | 'visibility' | 'status'> | null;

/** One change as the categories see it. */
export interface CategorizedChange {
  /** The op that led from before to after: the one that linked two memories, else the last one. */
  readonly opType: OpType;
  /** How both states hang together: one grew out of the other, or both out of an older one apart. */
  readonly relation: 'new' | 'grown' | 'apart' | 'gone';
  readonly before: State;
  readonly after: State;
  /** Whether the states say something else of themselves, whatever was attached to them. */
  readonly isCorrected: boolean;
  /** Whether something is attached to one of them that is not attached to the other. */
  readonly isAttachedTo: boolean;
}

/** The lists of a diff that a change belongs to (`L111`, `L137`): what happened to the memory, and beside that what it is about. */
export function categoriesOf(change: CategorizedChange): readonly DiffCategory[] {
  const { opType, relation, before, after, isCorrected, isAttachedTo } = change;
  const states = [before, after];
  const isAnother = isCorrected || before === null || after === null;
  const categories = new Set<DiffCategory>();
  if (after === null) categories.add(opType === 'mark_duplicate' ? 'duplicates_detected' : 'records_superseded');
  else if (before === null) categories.add('memories_added');
  else if (isCorrected) categories.add(opType === 'supersede_memory' ? 'records_superseded' : 'corrections_proposed');
  if (isAnother && states.some(isDecision)) categories.add('decisions_changed');
  if (isDeprecated(before) !== isDeprecated(after) && after !== null) categories.add('decisions_changed');
  if (isAnother && states.some(isTaskOrFlag)) categories.add('tasks_or_flags_changed');
  if (affectsVisibility(relation, before, after)) categories.add('permissions_or_visibility_affected');
  if (isAttachedTo && after !== null) categories.add('evidence_added_or_removed');
  // Whatever else it is, it is told: by the last op.
  if (categories.size === 0)
    categories.add(opType === 'propose_deprecation' ? 'decisions_changed' : 'corrections_proposed');
  return [...categories];
}

function isDeprecated(state: State): boolean {
  return state?.status === 'deprecation_proposed';
}

function isDecision(state: State): boolean {
  return state !== null && (state.kind === 'decision' || /decision:/i.test(state.content));
}

function isTaskOrFlag(state: State): boolean {
  return state !== null && [state.event_type, state.kind].some((name) => name === 'task' || name === 'flag');
}

/** A memory that goes takes its visibility with it; one that comes or changes is told when the visibility is another. */
function affectsVisibility(relation: string, before: State, after: State): boolean {
  return relation !== 'gone' && after !== null && before?.visibility !== after.visibility;
}

/** What the op says of itself, else the beginning of the content, else the name of the op (`L113`). */
export function summarize(op: Op, state: State): string {
  const summary = op.payload?.summary;
  if (typeof summary === 'string' && summary !== '') return summary;
  if (state === null || state.content === '') return op.op_type;
  return beginningOf(state.content);
}

/** As much of a text as fits, cut between characters, ill-formed ones made well-formed. */
function beginningOf(text: string): string {
  const wellFormed = text.toWellFormed();
  let beginning = '';
  let bytes = 0;
  for (const character of wellFormed) {
    bytes += utf8Length(character);
    if (bytes > summaryContentBytesMax) return beginning;
    beginning += character;
  }
  return beginning;
}
