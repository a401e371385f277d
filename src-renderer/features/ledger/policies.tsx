import { Button } from '@mantine/core';
import { useEnginePages } from '../../bridge/queries.tsx';
import { Id } from '../../ui/id.tsx';
import { MemoryText } from '../../ui/memory-text.tsx';
import { RefusedNotice } from '../../ui/states.tsx';
import { When } from '../../ui/when.tsx';
import { pretty } from './ledger-words.ts';

/** Consolidation policies that an agent declared, the newest first: declarations, which nothing acts on by itself. */
export function Policies({ agentId }: { readonly agentId: string }) {
  const answer = useEnginePages('ledger.policies', { agent: agentId, limit: 20 });
  const policies = answer.data?.pages.flatMap((page) => page.policies) ?? [];
  if (answer.error !== null) return <RefusedNotice refusal={answer.error} />;
  return (
    <section className="mg-section" aria-label="Consolidation policy">
      <h2>Consolidation policy</h2>
      {answer.data !== undefined && policies.length === 0 && (
        <p className="mg-quiet">It has declared none. A policy is a declaration; nothing acts on it by itself.</p>
      )}
      <ul className="mg-changes">
        {policies.map((policy) => (
          <li key={policy.policy_id} className="mg-card mg-ledger-value">
            <p className="mg-quiet">
              version {policy.version}, {policy.template_id}, custody epoch {policy.custody_epoch},{' '}
              <When at={policy.amended_at} />, <Id id={policy.digest} of="digest of the policy" />
            </p>
            <div className="mg-ledger-json">
              <MemoryText text={pretty(policy.params)} />
            </div>
          </li>
        ))}
      </ul>
      {answer.hasNextPage && (
        <Button variant="default" loading={answer.isFetchingNextPage} onClick={() => void answer.fetchNextPage()}>
          Load older policies
        </Button>
      )}
    </section>
  );
}
