import { type Conflict, type ConflictType, conflictTypes } from '../../src-preload/contract/conflict.ts';
import { type AcceptedMemory, acceptedMemorySchema } from '../../src-preload/contract/memory.ts';
import { count, listWords } from './words.ts';

/** How a type of conflict is named: as a label, counted in a sentence, and what it means. */
interface ConflictWords {
  readonly label: string;
  readonly plural: string;
  readonly means: string;
}

export const conflictWords: Readonly<Record<ConflictType, ConflictWords>> = {
  stale_base: {
    label: 'stale base',
    plural: 'stale bases',
    means: 'The declared base is no ancestor of both sides.',
  },
  duplicate_content: {
    label: 'duplicate content',
    plural: 'duplicate contents',
    means: 'Two memories say the same.',
  },
  contradictory_decision: {
    label: 'contradiction',
    plural: 'contradictions',
    means: 'Two decisions of one scope or subject do not say the same.',
  },
  protected_decision: {
    label: 'contradiction of a protected decision',
    plural: 'contradictions of protected decisions',
    means: 'One of two decisions that do not agree is protected or was approved by the user.',
  },
  incompatible_fact: {
    label: 'incompatible fact',
    plural: 'incompatible facts',
    means: 'Two facts about the same thing at the same time do not agree.',
  },
  boundary_violation: {
    label: 'boundary violation',
    plural: 'boundary violations',
    means: 'A change names another project, topic or actor than its own.',
  },
  scope_flow: {
    label: 'flow to a wider audience',
    plural: 'flows to a wider audience',
    means: 'Memory would become visible to more than it was meant for.',
  },
  trust_downgrade: {
    label: 'trust downgrade',
    plural: 'trust downgrades',
    means: 'An inference would replace what the user approved.',
  },
  identity_collision: {
    label: 'same id added twice',
    plural: 'same ids added twice',
    means: 'Both sides added a memory under one id, with different content.',
  },
  concurrent_edit: {
    label: 'concurrent edit',
    plural: 'concurrent edits',
    means: 'Both sides changed this memory since they parted.',
  },
  delete_modify: {
    label: 'delete-versus-modify',
    plural: 'delete-versus-modify',
    means: 'One side retired this memory, the other one changed it or counts on it.',
  },
};

/** "2 conflicts: 1 contradiction, 1 delete-versus-modify"; undefined for none. */
export function conflictLine(byType: Readonly<Partial<Record<ConflictType, number>>>): string | undefined {
  const counted = conflictTypes.flatMap((type) => {
    const amount = byType[type] ?? 0;
    return amount === 0
      ? []
      : [{ amount, words: count(amount, conflictWords[type].label, conflictWords[type].plural) }];
  });
  const total = counted.reduce((sum, { amount }) => sum + amount, 0);
  if (total === 0) return undefined;
  return `${count(total, 'conflict')}: ${counted.map(({ words }) => words).join(', ')}`;
}

/** What one side says: a memory, only its text, or nothing. */
export interface Said {
  readonly memoryId: string | undefined;
  readonly content: string | undefined;
  readonly memory: AcceptedMemory | null;
}

/** The sides of a conflict as they are laid out: base only where one memory has two states. */
export interface ConflictSides {
  /** Whether both sides are states of one memory; else they are two memories. */
  readonly isOneMemory: boolean;
  readonly base: Said | undefined;
  readonly ours: Said | undefined;
  readonly theirs: Said | undefined;
}

/** Reads the sides out of the details of a conflict (`lethe.md` §7, §0.3). Kinds that have none give none. */
export function sidesOf(conflict: Conflict): ConflictSides {
  const { details } = conflict;
  const text = (name: string): string | undefined => {
    const value = details?.[name];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const memoryId = text('memory_id');
  if (memoryId !== undefined) {
    const state = (name: string): Said => {
      const memory = acceptedMemorySchema.nullable().safeParse(details?.[name] ?? null).data ?? null;
      return { memoryId, content: memory?.content, memory };
    };
    return { isOneMemory: true, base: state('base'), ours: state('left'), theirs: state('right') };
  }
  const side = (id: string | undefined, content: string | undefined): Said | undefined =>
    id === undefined && content === undefined ? undefined : { memoryId: id, content, memory: null };
  return {
    isOneMemory: false,
    base: undefined,
    ours: side(text('left_event'), text('left_content') ?? text('duplicate_content')),
    theirs: side(text('right_event'), text('right_content')),
  };
}

/** The memories that a conflict is about. */
export function memoriesOf(conflict: Conflict): readonly string[] {
  const ids = conflict.details?.memory_ids;
  return Array.isArray(ids) ? ids.filter((id): id is string => typeof id === 'string') : [];
}

/** "Both sides changed it: content, tags" between two states of one memory. */
export function differingFields(ours: AcceptedMemory | null, theirs: AcceptedMemory | null): string {
  if (ours === null || theirs === null) return '';
  const fields = [
    'content',
    'kind',
    'scope',
    'visibility',
    'tags',
    'confidence',
    'status',
    'evidence',
    'verification',
  ] as const;
  const differing = fields.filter((field) => JSON.stringify(ours[field]) !== JSON.stringify(theirs[field]));
  return listWords(differing);
}
