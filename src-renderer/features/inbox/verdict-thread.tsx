import type { Verdict, VerdictRecord } from '../../../src-preload/contract/proposal.ts';
import { MemoryText } from '../../ui/memory-text.tsx';
import { plainLine } from '../../ui/visible-text.ts';
import { When } from '../../ui/when.tsx';

const verdictWords: Readonly<Record<Verdict, { readonly text: string; readonly tone: string }>> = {
  approve: { text: 'approved', tone: 'added' },
  request_changes: { text: 'requested changes', tone: 'changed' },
  reject: { text: 'rejected', tone: 'removed' },
};

interface VerdictThreadProps {
  readonly verdicts: readonly VerdictRecord[];
  readonly nameOf: (principalId: string) => string;
}

/** What reviewers said, oldest first; a verdict on an older state says that it no longer counts. */
export function VerdictThread({ verdicts, nameOf }: VerdictThreadProps) {
  if (verdicts.length === 0) return null;
  return (
    <section className="mg-section" aria-label="Verdicts">
      <h2>Verdicts</h2>
      <ol className="mg-thread">
        {verdicts.map((verdict) => (
          <li key={verdict.finding_id}>
            <p>
              <strong>{plainLine(nameOf(verdict.reviewer), 60)}</strong>{' '}
              <span className="mg-chip" data-tone={verdictWords[verdict.verdict].tone}>
                {verdictWords[verdict.verdict].text}
              </span>{' '}
              <span className="mg-quiet">
                <When at={verdict.created_at} />
                {!verdict.current && ', about an earlier state'}
              </span>
            </p>
            {verdict.comment !== '' && <MemoryText text={verdict.comment} />}
          </li>
        ))}
      </ol>
    </section>
  );
}
