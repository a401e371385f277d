import {
  type InfiniteData,
  QueryClient,
  skipToken,
  type UseInfiniteQueryResult,
  type UseMutationResult,
  type UseQueryResult,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { createContext, type ReactNode, use, useEffect, useSyncExternalStore } from 'react';
import type { CommandInput, CommandName, CommandOutput } from '../../src-preload/contract/commands/table.ts';
import type { Client } from './client.ts';
import { createCoalescer } from './coalesce.ts';
import type { ConnectionState } from './connection.ts';
import { staleAfter } from './live.ts';
import { findNextCursor } from './next-page.ts';
import type { Refusal } from './refusal.ts';

/** Events of this long are answered together. Milliseconds. */
const coalesceMs = 120;

const ClientContext = createContext<Client | null>(null);

/** Gives the screens below it their client. */
export function ClientProvider({ client, children }: { readonly client: Client; readonly children: ReactNode }) {
  return <ClientContext value={client}>{children}</ClientContext>;
}

function useClient(): Client {
  const client = use(ClientContext);
  if (client === null) throw new Error('a screen needs a ClientProvider above it');
  return client;
}

/** The cache of the engine's answers. Refusals are answers: only an engine that cannot be reached is asked again. */
export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 5_000,
        refetchOnWindowFocus: false,
        retry: retryQuery,
        retryDelay: 400,
        networkMode: 'always',
      },
      mutations: { retry: false, networkMode: 'always' },
    },
  });
}

function retryQuery(failures: number, error: Error): boolean {
  return failures < 2 && 'kind' in error && error.kind === 'unavailable';
}

/** Asks the engine and keeps the answer current. A null input asks nothing yet. */
export function useEngineQuery<Name extends CommandName>(
  name: Name,
  input: CommandInput<Name> | null,
): UseQueryResult<CommandOutput<Name>, Refusal> {
  const client = useClient();
  return useQuery<CommandOutput<Name>, Refusal>({
    queryKey: [name, input],
    queryFn: input === null ? skipToken : () => client.request(name, input),
  });
}

/** Asks page after page; `pages` of the answer grow with `fetchNextPage`. A null input asks nothing yet. */
export function useEnginePages<Name extends CommandName>(
  name: Name,
  input: CommandInput<Name> | null,
): UseInfiniteQueryResult<InfiniteData<CommandOutput<Name>>, Refusal> {
  const client = useClient();
  return useInfiniteQuery<
    CommandOutput<Name>,
    Refusal,
    InfiniteData<CommandOutput<Name>>,
    readonly unknown[],
    string | undefined
  >({
    queryKey: [name, input, 'pages'],
    queryFn:
      input === null
        ? skipToken
        : ({ pageParam }) => client.request(name, pageParam === undefined ? input : { ...input, cursor: pageParam }),
    initialPageParam: undefined,
    getNextPageParam: findNextCursor,
  });
}

/** Runs a command of the owner's; every answer on screen is asked for again after it. */
export function useEngineCommand<Name extends CommandName>(
  name: Name,
): UseMutationResult<CommandOutput<Name>, Refusal, CommandInput<Name>> {
  const client = useClient();
  const queries = useQueryClient();
  return useMutation<CommandOutput<Name>, Refusal, CommandInput<Name>>({
    mutationFn: (input) => client.request(name, input),
    onSettled: () => void queries.invalidateQueries(),
  });
}

/** Asks the engine once, outside of what is kept current. Rejects with a Refusal. */
export type Ask = Client['request'];

/** The way to ask while something is being done. */
export function useAsk(): Ask {
  return useClient().request;
}

/** How the desk stands to its engine, live. */
export function useConnection(): ConnectionState {
  const { connection } = useClient();
  return useSyncExternalStore(connection.watch, connection.get);
}

/** Asks again for what an event made old; after a reconnect for everything, since events may have been missed. */
export function useLiveUpdates(): void {
  const client = useClient();
  const queries = useQueryClient();
  useEffect(() => {
    const stale = createCoalescer<unknown>((names) => {
      void queries.invalidateQueries({ predicate: (query) => names.has(query.queryKey[0]) });
    }, coalesceMs);
    const stopEvents = client.subscribe((event) => stale.add(staleAfter(event)));
    const stopState = client.connection.watch(() => {
      if (client.connection.get() === 'live') void queries.invalidateQueries();
    });
    return () => {
      stopEvents();
      stopState();
      stale.stop();
    };
  }, [client, queries]);
}

/** Goes where the shell asks to go (`/inbox/<id>`): a notification or a link outside the desk was followed. */
export function usePlaces(go: (place: string) => void): void {
  const client = useClient();
  useEffect(() => client.subscribePlaces(go), [client, go]);
}
