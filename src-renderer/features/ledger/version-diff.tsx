import { Button } from '@mantine/core';
import { useEnginePages } from '../../bridge/queries.tsx';
import { BeforeAfter } from '../../ui/before-after.tsx';
import { RefusedNotice } from '../../ui/states.tsx';
import { plainLine } from '../../ui/visible-text.ts';
import { count, listWords } from '../../ui/words.ts';
import { changeSides, pathWords } from './ledger-words.ts';

interface VersionDiffProps {
  readonly agentId: string;
  readonly keyName: string;
  readonly from: number;
  readonly to: number;
}

/** What differs between two versions, path by path. */
export function VersionDiff({ agentId, keyName, from, to }: VersionDiffProps) {
  const answer = useEnginePages('ledger.diff', {
    ...{ agent: agentId, key: keyName, limit: 50 },
    ...{ from: { version: from }, to: { version: to } },
  });
  const [first] = answer.data?.pages ?? [];
  if (first === undefined) return answer.error === null ? null : <RefusedNotice refusal={answer.error} />;
  const changes = answer.data?.pages.flatMap((page) => page.changes) ?? [];
  const fields = first.fields.map((field) => field.replace('_', ' '));
  return (
    <section className="mg-section" aria-label="Differences">
      <h2>
        Since v{from}{' '}
        <span className="mg-quiet">
          {first.total === 0 ? 'the value is the same' : count(first.total, 'difference')}
        </span>
      </h2>
      {fields.length > 0 && <p className="mg-quiet">Changed beside the value: {listWords(fields)}.</p>}
      {changes.length > 0 && (
        <ul className="mg-list mg-card">
          {changes.map((change) => {
            const { before, after } = changeSides(change);
            return (
              <li key={`${change.kind} ${change.path}`} className="mg-ledger-change">
                <span className="mg-chip" data-tone={tones[change.kind]}>
                  {change.kind}
                </span>
                <span className="mg-mono">{plainLine(pathWords(change.path), 200)}</span>
                <BeforeAfter before={before} after={after} />
              </li>
            );
          })}
        </ul>
      )}
      {answer.hasNextPage && (
        <Button variant="default" loading={answer.isFetchingNextPage} onClick={() => void answer.fetchNextPage()}>
          Load more differences
        </Button>
      )}
    </section>
  );
}

const tones = { added: 'added', removed: 'removed', changed: 'changed' } as const;
