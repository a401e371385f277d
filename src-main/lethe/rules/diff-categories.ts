import type { Op, OpType } from '../../../src-preload/contract/changeset.ts';
import type { DiffCategory } from '../../../src-preload/contract/diff.ts';
import type { AcceptedMemory } from '../../../src-preload/contract/memory.ts';
import { utf8Length } from '../../canonical/text.ts';

/** Longest summary that is taken from content, in bytes of UTF-8 (`lethe.md` §6). */
export const summaryContentBytesMax = 120;

type State = Pick<AcceptedMemory, 'content' | 'kind' | 'event_type' | 'visibility'> | null;

/**
 * The lists of a diff that a change belongs to (`L111`): what happened to the memory, and beside that what it is about.
 * @param opType the op that led from before to after: the one that linked two memories, else the last one
 */
export function categoriesOf(
  opType: OpType,
  relation: 'new' | 'grown' | 'apart' | 'gone',
  before: State,
  after: State,
): readonly DiffCategory[] {
  const categories: DiffCategory[] = [mainCategory(opType, before, after)];
  const states = [before, after];
  if (states.some(isDecision)) categories.push('decisions_changed');
  if (states.some(isTaskOrFlag)) categories.push('tasks_or_flags_changed');
  if (affectsVisibility(relation, before, after)) categories.push('permissions_or_visibility_affected');
  return categories;
}

function mainCategory(opType: OpType, before: State, after: State): DiffCategory {
  if (after === null) return 'records_superseded';
  if (before === null) return 'memories_added';
  return opType === 'supersede_memory' ? 'records_superseded' : 'corrections_proposed';
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
