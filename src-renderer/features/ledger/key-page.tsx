import { Button, TextInput } from '@mantine/core';
import { ArrowLeft } from 'lucide-react';
import { useState } from 'react';
import { timestampSchema } from '../../../src-preload/contract/ids.ts';
import type { LedgerPoint } from '../../../src-preload/contract/ledger.ts';
import { useEnginePages } from '../../bridge/queries.tsx';
import { formatRoute } from '../../ui/routes.ts';
import { Loading, Refused } from '../../ui/states.tsx';
import { When } from '../../ui/when.tsx';
import { stamp } from '../../ui/words.ts';
import { derivedWords, versionWords } from './ledger-words.ts';
import { ValueAt } from './value-at.tsx';
import { VersionDrawing } from './version-drawing.tsx';

interface KeyPageProps {
  readonly agentId: string;
  readonly keyName: string;
}

/** One key: its versions, what it held at each and at any time, and how that differs from what came before. */
export function KeyPage({ agentId, keyName }: KeyPageProps) {
  const answer = useEnginePages('ledger.history', { agent: agentId, key: keyName, limit: 100 });
  const [chosen, setChosen] = useState<LedgerPoint | null>(null);
  const versions = answer.data?.pages.flatMap((page) => page.versions) ?? [];
  const newest = versions[0];
  if (answer.isPending) return <Loading what="the versions" />;
  if (newest === undefined)
    return answer.error === null ? null : <Refused refusal={answer.error} retry={() => void answer.refetch()} />;
  const point = chosen ?? { version: newest.version };
  const current = 'version' in point ? point.version : undefined;
  const choose = (version: number): void => setChosen({ version });
  return (
    <article className="mg-page" aria-label="Key">
      <a className="mg-ledger-back mg-narrow-only" href={formatRoute({ screen: 'ledger', agentId })}>
        <ArrowLeft size={14} aria-hidden /> All keys
      </a>
      <h2 className="mg-mono mg-ledger-key">{keyName}</h2>
      <AsOf
        choose={(at) => setChosen(at === undefined ? null : { at })}
        chosen={'at' in point ? point.at : undefined}
      />
      <ValueAt agentId={agentId} keyName={keyName} point={point} />
      <section className="mg-section" aria-label="Versions">
        <h2>
          Versions <span className="mg-quiet">{newest.version.toLocaleString('en')}</span>
        </h2>
        <VersionDrawing versions={versions} current={current} choose={choose} />
        <ul className="mg-list mg-card">
          {versions.map((version) => {
            const words = versionWords(version);
            return (
              <li key={version.version}>
                <button
                  type="button"
                  className="mg-row mg-ledger-version"
                  aria-current={version.version === current ? 'true' : undefined}
                  onClick={() => choose(version.version)}
                >
                  <span className="mg-mono">v{version.version}</span>
                  <span className="mg-chip" data-tone={words.tone}>
                    {words.text}
                  </span>
                  <span className="mg-quiet">{derivedWords(version)}</span>
                  <span className="mg-ledger-when">
                    <When at={version.written_at} />
                  </span>
                </button>
              </li>
            );
          })}
        </ul>
        {answer.hasNextPage && (
          <Button variant="default" loading={answer.isFetchingNextPage} onClick={() => void answer.fetchNextPage()}>
            Load older versions
          </Button>
        )}
      </section>
    </article>
  );
}

interface AsOfProps {
  readonly chosen: string | undefined;
  readonly choose: (at: Extract<LedgerPoint, { at: unknown }>['at'] | undefined) => void;
}

function AsOf({ chosen, choose }: AsOfProps) {
  const [local, setLocal] = useState('');
  const change = (value: string): void => {
    setLocal(value);
    const time = Date.parse(value);
    choose(Number.isNaN(time) ? undefined : timestampSchema.parse(new Date(time).toISOString()));
  };
  return (
    <div className="mg-ledger-asof">
      <TextInput
        size="xs"
        type="datetime-local"
        step={1}
        label="As of a time"
        value={local}
        onChange={(event) => change(event.currentTarget.value)}
      />
      {chosen !== undefined && (
        <p role="status">
          As it was on {stamp(chosen)}.{' '}
          <Button size="compact-xs" variant="subtle" onClick={() => change('')}>
            Back to now
          </Button>
        </p>
      )}
    </div>
  );
}
