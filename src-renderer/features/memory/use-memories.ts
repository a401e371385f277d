import type { AcceptedMemory, SearchMatch } from '../../../src-preload/contract/memory.ts';
import { useEnginePages } from '../../bridge/queries.tsx';
import type { Refusal } from '../../bridge/refusal.ts';
import { listWords } from '../../ui/words.ts';
import type { MemoryFilter } from './memory-filter.ts';

interface FoundMemories {
  readonly rows: readonly { readonly memory: AcceptedMemory; readonly why: string | undefined }[];
  readonly pending: boolean;
  readonly refusal: Refusal | null;
  readonly retry: () => void;
  /** Fetches the next page; undefined when there is none. */
  readonly more: (() => void) | undefined;
  readonly loadingMore: boolean;
  /** The search looked at a part of very common words only. */
  readonly partial: boolean;
}

/** Accepted memories at a head (undefined: main as it is now): a search when there is a query, else the newest touched first. */
export function useMemories(
  project: string,
  head: string | undefined,
  query: string,
  filter: MemoryFilter,
): FoundMemories {
  const searching = query !== '';
  const common = {
    project,
    limit: 50,
    ...(head === undefined ? {} : { head_changeset_id: head }),
    ...filter,
  };
  const listed = useEnginePages('memory.context_at', searching ? null : { ...common, pin: false });
  const searched = useEnginePages('memory.search', searching ? { ...common, query } : null);
  const answer = searching ? searched : listed;
  const rows = searching
    ? (searched.data?.pages ?? []).flatMap((page) =>
        page.matches.map((match) => ({ memory: match.memory, why: whyWords(match) })),
      )
    : (listed.data?.pages ?? []).flatMap((page) => page.memories.map((memory) => ({ memory, why: undefined })));
  return {
    rows,
    pending: answer.isPending,
    refusal: answer.error,
    retry: () => void answer.refetch(),
    more: answer.hasNextPage ? () => void answer.fetchNextPage() : undefined,
    loadingMore: answer.isFetching,
    partial: searching && (searched.data?.pages ?? []).some((page) => !page.complete),
  };
}

/** "“port” in content, “db” in tags". */
export function whyWords(match: SearchMatch): string {
  return match.why.map(({ token, fields }) => `“${token}” in ${listWords(fields)}`).join(', ');
}
