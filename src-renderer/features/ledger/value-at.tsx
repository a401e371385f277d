import type { LedgerPoint, LedgerVersion } from '../../../src-preload/contract/ledger.ts';
import { useEngineQuery } from '../../bridge/queries.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Id } from '../../ui/id.tsx';
import { MemoryText } from '../../ui/memory-text.tsx';
import { Loading, RefusedNotice } from '../../ui/states.tsx';
import { plainLine } from '../../ui/visible-text.ts';
import { sizeWords, stamp } from '../../ui/words.ts';
import { absenceWords, derivedWords, pretty } from './ledger-words.ts';
import { VersionDiff } from './version-diff.tsx';

interface ValueAtProps {
  readonly agentId: string;
  readonly keyName: string;
  readonly point: LedgerPoint;
}

/** What the key held at a version or a time, what is known of it, and what differs from the version before. */
export function ValueAt({ agentId, keyName, point }: ValueAtProps) {
  const answer = useEngineQuery('ledger.value_at', { agent: agentId, key: keyName, point });
  if (answer.isPending) return <Loading what="the value" />;
  const state = answer.data;
  if (state === undefined) return answer.error === null ? null : <RefusedNotice refusal={answer.error} />;
  const { version } = state;
  return (
    <>
      <section className="mg-card mg-ledger-value" aria-label="Value">
        {state.kind === 'absent' ? (
          <p className="mg-quiet">{absenceWords(state)}</p>
        ) : (
          <>
            <div className="mg-ledger-json">
              <MemoryText text={pretty(state.value)} />
            </div>
            <CopyButton label="Copy value" text={JSON.stringify(state.value)} size="compact-xs" />
          </>
        )}
        {version !== null && <VersionFacts version={version} />}
      </section>
      {version !== null && version.version > 1 && (
        <VersionDiff agentId={agentId} keyName={keyName} from={version.version - 1} to={version.version} />
      )}
    </>
  );
}

function VersionFacts({ version }: { readonly version: LedgerVersion }) {
  return (
    <dl className="mg-pairs">
      <dt>Version</dt>
      <dd>
        {version.version}, written {stamp(version.written_at)}
      </dd>
      {version.kind === 'put' && (
        <>
          <dt>Importance</dt>
          <dd>
            {version.importance}, confidence {Math.round(version.confidence * 100)} %, {sizeWords(version.size_bytes)}
          </dd>
          {version.source !== null && (
            <>
              <dt>Source</dt>
              <dd>{plainLine(version.source, 255)}</dd>
            </>
          )}
          {version.expires_at !== null && (
            <>
              <dt>Expires</dt>
              <dd>{stamp(version.expires_at)}</dd>
            </>
          )}
          {version.derived_from !== undefined && (
            <>
              <dt>Declared</dt>
              <dd>{derivedWords(version)}</dd>
            </>
          )}
        </>
      )}
      <dt>Digest</dt>
      <dd>
        <Id id={version.digest} of="digest of the version" />
      </dd>
    </dl>
  );
}
