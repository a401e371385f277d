import type { OpType } from '../../src-preload/contract/changeset.ts';
import {
  type DiffCategory,
  type DiffItem,
  diffCategories,
  type SemanticDiff,
} from '../../src-preload/contract/diff.ts';
import { count, listWords, statusWords } from './words.ts';

export type Tone = 'added' | 'changed' | 'removed' | 'replaced' | 'noted';

/**
 * How a category of changes is named: as a heading, in a sentence ("3 added"), and its colour. A sentence counts each change
 * under its first category: of the decisions, deprecations alone are in no earlier one.
 */
export interface CategoryWords {
  readonly heading: string;
  readonly short: string;
  readonly tone: Tone;
}

export const categoryWords: Readonly<Record<DiffCategory, CategoryWords>> = {
  memories_added: { heading: 'Added', short: 'added', tone: 'added' },
  corrections_proposed: { heading: 'Corrected', short: 'corrected', tone: 'changed' },
  records_superseded: { heading: 'Superseded', short: 'superseded', tone: 'replaced' },
  relationships_added: { heading: 'Relationships', short: 'related', tone: 'noted' },
  decisions_changed: { heading: 'Decisions', short: 'proposed for deprecation', tone: 'changed' },
  tasks_or_flags_changed: { heading: 'Tasks and flags', short: 'tasks and flags', tone: 'changed' },
  duplicates_detected: { heading: 'Duplicates', short: 'marked duplicate', tone: 'removed' },
  permissions_or_visibility_affected: { heading: 'Visibility', short: 'with visibility set', tone: 'noted' },
  evidence_added_or_removed: { heading: 'Evidence', short: 'with evidence', tone: 'noted' },
};

export const opWords: Readonly<Record<OpType, { readonly verb: string; readonly tone: Tone }>> = {
  add_memory: { verb: 'Added', tone: 'added' },
  add_relationship: { verb: 'Related', tone: 'noted' },
  correct_memory: { verb: 'Corrected', tone: 'changed' },
  supersede_memory: { verb: 'Superseded', tone: 'replaced' },
  mark_duplicate: { verb: 'Marked duplicate', tone: 'removed' },
  propose_deprecation: { verb: 'Deprecation proposed', tone: 'removed' },
  attach_evidence: { verb: 'Evidence attached', tone: 'noted' },
  attach_verification: { verb: 'Verification attached', tone: 'noted' },
};

/** Ops that say something of a memory and leave its text as it is. */
const markOps: readonly OpType[] = ['propose_deprecation', 'attach_evidence', 'attach_verification'];

/** What happened, in words: the op, unless the last one to touch the memory only marked what came about before it. */
export function changeVerb({ item, category }: Pick<Change, 'item' | 'category'>): string {
  const { verb } = opWords[item.op_type];
  if (category === 'memories_added') {
    if (item.op_type === 'correct_memory') return 'Added, then corrected';
    return item.op_type === 'supersede_memory' ? 'Added in place of another' : 'Added';
  }
  const isMark = markOps.includes(item.op_type);
  if (category === 'corrections_proposed' && isMark) return opWords.correct_memory.verb;
  if (category === 'records_superseded' && isMark) return opWords.supersede_memory.verb;
  if (category === 'decisions_changed' && item.op_type !== 'propose_deprecation' && isMark)
    return opWords.propose_deprecation.verb;
  return verb;
}

/** The other memory that an op names: where a relationship leads, or what stays of two duplicates. */
export function findOther(item: DiffItem): { readonly words: string; readonly memoryId: string } | undefined {
  const { payload, resulting_event_id: resulting } = item;
  const text = (...values: readonly unknown[]): string | undefined =>
    values.find((value): value is string => typeof value === 'string' && value !== '');
  if (item.op_type === 'add_relationship') {
    const memoryId = text(resulting, payload?.to_memory_id);
    return memoryId === undefined ? undefined : { words: text(payload?.kind) ?? 'related to', memoryId };
  }
  if (item.op_type !== 'mark_duplicate') return undefined;
  const memoryId = text(payload?.duplicate_of, resulting);
  return memoryId === undefined ? undefined : { words: 'duplicate of', memoryId };
}

/** One change, once, with every other category that it also belongs to. */
export interface Change {
  readonly key: string;
  readonly item: DiffItem;
  /** The list under which it is shown. */
  readonly category: DiffCategory;
  readonly also: readonly DiffCategory[];
}

export interface ChangeGroup {
  readonly category: DiffCategory;
  readonly changes: readonly Change[];
}

/**
 * The changes of a diff, each in the first category that lists it (an added decision is under Added, and says that it
 * is a decision too). Groups in the contract's order, empty ones left out; changes in the order of their ops.
 */
export function groupChanges(diffs: readonly SemanticDiff[]): readonly ChangeGroup[] {
  const categoriesByKey = new Map<string, DiffCategory[]>();
  for (const diff of diffs) {
    for (const category of diffCategories) {
      for (const item of diff[category]) {
        const known = categoriesByKey.get(keyOf(item)) ?? [];
        if (!known.includes(category)) known.push(category);
        categoriesByKey.set(keyOf(item), known);
      }
    }
  }
  return diffCategories.flatMap((category) => {
    const changes = new Map<string, Change>();
    for (const item of diffs.flatMap((diff) => diff[category])) {
      const [first, ...also] = categoriesByKey.get(keyOf(item)) ?? [];
      if (first === category) changes.set(keyOf(item), { key: keyOf(item), item, category, also });
    }
    return changes.size === 0 ? [] : [{ category, changes: [...changes.values()] }];
  });
}

/** "3 added, 1 corrected"; "no changes" for none. */
export function summariseChanges(groups: readonly ChangeGroup[]): string {
  if (groups.length === 0) return 'no changes';
  return groups
    .map((group) => `${group.changes.length.toLocaleString('en')} ${categoryWords[group.category].short}`)
    .join(', ');
}

/** "6 changes to 5 memories". */
export function measureChanges(groups: readonly ChangeGroup[]): string {
  const changes = groups.flatMap((group) => group.changes);
  const memories = new Set(changes.map((change) => change.item.memory_id));
  return `${count(changes.length, 'change')} to ${count(memories.size, 'memory', 'memories')}`;
}

/** What differs beside the text: "visibility internal → public", one phrase a field. */
export function fieldChanges(item: DiffItem): readonly string[] {
  const { before, after } = item;
  if (before === null || after === null || item.op_type === 'add_relationship') return [];
  const pairs = [
    ['kind', before.kind, after.kind],
    ['visibility', before.visibility, after.visibility],
    ['scope', before.scope, after.scope],
    ['confidence', before.confidence, after.confidence],
    ['tags', tagWords(before.tags), tagWords(after.tags)],
    ['status', statusWords[before.status], statusWords[after.status]],
  ] as const;
  return pairs
    .filter(([, was, is]) => was !== is)
    .map(([field, was, is]) => `${field} ${was ?? 'none'} → ${is ?? 'none'}`);
}

function tagWords(tags: readonly string[] | undefined): string | undefined {
  return tags === undefined || tags.length === 0 ? undefined : listWords([...tags].sort());
}

function keyOf(item: DiffItem): string {
  return `${item.changeset_id} ${item.op_ordinal} ${item.memory_id}`;
}
