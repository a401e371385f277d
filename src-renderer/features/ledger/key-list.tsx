import { Button, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { ArrowLeft, KeyRound, Search } from 'lucide-react';
import { useState } from 'react';
import { useEnginePages } from '../../bridge/queries.tsx';
import { useKeys } from '../../ui/keys.tsx';
import { goTo } from '../../ui/navigation.ts';
import { formatRoute } from '../../ui/routes.ts';
import { Empty, Loading, Refused } from '../../ui/states.tsx';
import { VirtualList } from '../../ui/virtual-list.tsx';
import { plainLine } from '../../ui/visible-text.ts';
import { When } from '../../ui/when.tsx';
import { sizeWords } from '../../ui/words.ts';
import { type LedgerAgent, nameOfAgent } from './ledger-words.ts';

const stateTones = { live: 'added', deleted: 'removed', expired: 'noted' } as const;

interface KeyListProps {
  readonly agent: LedgerAgent;
  readonly keyName: string | undefined;
}

/** The keys of an agent in their order, deleted and expired ones among them. */
export function KeyList({ agent, keyName }: KeyListProps) {
  const [prefix, setPrefix] = useState('');
  const [settled] = useDebouncedValue(prefix.trim(), 180);
  const answer = useEnginePages('ledger.keys', {
    agent: agent.agent_id,
    limit: 100,
    ...(settled === '' ? {} : { prefix: settled }),
  });
  const keys = answer.data?.pages.flatMap((page) => page.keys) ?? [];
  const open = (key: string | undefined): void => goTo({ screen: 'ledger', agentId: agent.agent_id, keyName: key });
  const at = keys.findIndex((row) => String(row.key) === keyName);
  const step = (by: number): void => {
    const next = keys[Math.max(0, Math.min(keys.length - 1, at + by))];
    if (next !== undefined) open(next.key);
  };
  useKeys([
    ['j', () => step(1)],
    ['k', () => step(-1)],
  ]);
  return (
    <>
      <div className="mg-ledger-tools">
        <a className="mg-ledger-back" href={formatRoute({ screen: 'ledger' })}>
          <ArrowLeft size={14} aria-hidden /> All agents
        </a>
        <a className="mg-ledger-agent" href={formatRoute({ screen: 'ledger', agentId: agent.agent_id })}>
          {plainLine(nameOfAgent(agent), 80)}
        </a>
        <TextInput
          type="search"
          size="xs"
          aria-label="Keys that begin with"
          placeholder="Keys that begin with"
          leftSection={<Search size={14} aria-hidden />}
          value={prefix}
          onChange={(event) => setPrefix(event.currentTarget.value)}
        />
      </div>
      {answer.error !== null && <Refused refusal={answer.error} retry={() => void answer.refetch()} />}
      {answer.isPending && <Loading what="keys" />}
      {answer.data !== undefined && keys.length === 0 && (
        <Empty icon={KeyRound} title={settled === '' ? 'No key yet' : 'No key begins like that'} />
      )}
      <VirtualList
        label="Keys"
        items={keys}
        keyOf={(row) => row.key}
        estimatePx={58}
        current={at}
        onEnd={answer.hasNextPage && !answer.isFetching ? () => void answer.fetchNextPage() : undefined}
        renderRow={(row) => (
          <a
            className="mg-row"
            href={formatRoute({ screen: 'ledger', agentId: agent.agent_id, keyName: row.key })}
            aria-current={String(row.key) === keyName ? 'true' : undefined}
          >
            <span className="mg-row-title mg-mono">{row.key}</span>
            <span className="mg-row-meta">
              {row.state !== 'live' && (
                <span className="mg-chip" data-tone={stateTones[row.state]}>
                  {row.state}
                </span>
              )}
              <span>v{row.version}</span>
              {row.importance !== null && row.importance !== 'normal' && <span>{row.importance}</span>}
              <span>{sizeWords(row.size_bytes)}</span>
              <When at={row.written_at} />
            </span>
          </a>
        )}
      />
      {answer.hasNextPage && (
        <Button
          variant="subtle"
          fullWidth
          loading={answer.isFetchingNextPage}
          onClick={() => void answer.fetchNextPage()}
        >
          Load more keys
        </Button>
      )}
    </>
  );
}
