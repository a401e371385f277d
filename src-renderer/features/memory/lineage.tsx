import { Button } from '@mantine/core';
import type { LineageStep } from '../../../src-preload/contract/memory.ts';
import { attachmentWords } from '../../ui/attachments.ts';
import { BeforeAfter } from '../../ui/before-after.tsx';
import { opWords } from '../../ui/changes.ts';
import { Id } from '../../ui/id.tsx';
import { MemoryLine, MemoryText } from '../../ui/memory-text.tsx';
import { formatRoute } from '../../ui/routes.ts';
import { plainLine } from '../../ui/visible-text.ts';
import { When } from '../../ui/when.tsx';

interface LineageProps {
  readonly steps: readonly LineageStep[];
  readonly nameOf: (principalId: string) => string;
  readonly more: (() => void) | undefined;
}

/** The life of a memory as a timeline: who did what to it, when, in which changeset, before → after. */
export function Lineage({ steps, nameOf, more }: LineageProps) {
  if (steps.length === 0) return null;
  return (
    <section className="mg-section" aria-label="Lineage">
      <h2>Lineage</h2>
      <ol className="mg-lineage">
        {steps.map((step) => (
          <li key={`${step.changeset_id} ${step.ordinal} ${step.memory_id}`} data-tone={opWords[step.op_type].tone}>
            <p className="mg-lineage-head">
              <strong>{opWords[step.op_type].verb}</strong> by {plainLine(nameOf(step.author_principal), 60)}
              {step.model !== undefined && <> with {plainLine(step.model, 60)}</>}, <When at={step.created_at} />
              <span className="mg-lineage-place">
                <Id id={step.changeset_id} of="changeset id" />
                <a href={formatRoute({ screen: 'history', changesetId: step.changeset_id })}>show</a>
              </span>
            </p>
            <p className="mg-quiet">
              <MemoryLine text={step.message} />
            </p>
            <StepMark step={step} />
            <StepText step={step} />
          </li>
        ))}
      </ol>
      {more !== undefined && (
        <Button variant="default" onClick={more}>
          Load more of its life
        </Button>
      )}
    </section>
  );
}

/** What a mark, a proposal or an attachment says, which no text of the memory does. */
function StepMark({ step }: { readonly step: LineageStep }) {
  const { duplicate_of: stays, payload } = step;
  const said = payload === undefined ? '' : attachmentWords(payload);
  return (
    <>
      {stays !== undefined && (
        <p>
          duplicate of{' '}
          <a className="mg-mono" href={formatRoute({ screen: 'memory', memoryId: stays, moment: { kind: 'now' } })}>
            {plainLine(stays, 80)}
          </a>
        </p>
      )}
      {said !== '' && (
        <p>
          <MemoryLine text={said} />
        </p>
      )}
    </>
  );
}

function StepText({ step }: { readonly step: LineageStep }) {
  const { before, after } = step;
  if (before !== null && after !== null && before.content !== after.content) {
    return <BeforeAfter before={before.content} after={after.content} />;
  }
  const only = after ?? before;
  if (only === null || (before !== null && after !== null)) return null;
  return <MemoryText text={only.content} />;
}
