import type { CommandOutput } from '../../../src-preload/contract/commands/table.ts';

/** A ref as the engine tells it, with the pending proposal of exactly its head. */
export type BranchRow = CommandOutput<'ref.overview'>['refs'][number] & { readonly proposalId: string | undefined };

interface BranchGroup {
  readonly namespace: string;
  readonly words: string;
  readonly rows: readonly BranchRow[];
}

const namespaces = [
  { namespace: 'shared', words: 'Shared memory' },
  { namespace: 'agents', words: 'Agents' },
  { namespace: 'sessions', words: 'Sessions' },
  { namespace: 'topics', words: 'Topics' },
  { namespace: 'repos', words: 'Repositories' },
  { namespace: 'imported', words: 'Imported' },
] as const;

/** Refs by the part after `refs/`, shared memory first, what belongs nowhere last; names in their order. */
export function groupBranches(branches: readonly BranchRow[]): readonly BranchGroup[] {
  const groups: BranchGroup[] = namespaces.map(({ namespace, words }) => ({
    namespace,
    words,
    rows: branches.filter((row) => namespaceOf(row) === namespace),
  }));
  const known = new Set<string>(namespaces.map(({ namespace }) => namespace));
  const others = branches.filter((row) => !known.has(namespaceOf(row)));
  return [...groups, { namespace: 'other', words: 'Others', rows: others }].filter(({ rows }) => rows.length > 0);
}

function namespaceOf({ ref }: BranchRow): string {
  return ref.ref_name.split('/')[1] ?? '';
}

/** "3 ahead, 1 behind", "same as main", of a ref beside main. */
export function standsWords({ ahead, behind }: Pick<BranchRow, 'ahead' | 'behind'>): string {
  if (ahead === 0 && behind === 0) return 'same as main';
  const parts = [
    ahead > 0 ? `${ahead.toLocaleString('en')} ahead` : '',
    behind > 0 ? `${behind.toLocaleString('en')} behind` : '',
  ];
  return parts.filter((part) => part !== '').join(', ');
}

/** Why a branch cannot be proposed; null when it can. */
export function whyNotProposed({ ref, ahead, proposalId }: BranchRow): string | null {
  if (ref.protected) return 'It is shared memory itself.';
  if (ahead === 0) return 'Main holds all of it already.';
  return proposalId === undefined ? null : 'Its head is proposed already.';
}
