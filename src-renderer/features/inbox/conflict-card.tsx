import { Button, Textarea, TextInput } from '@mantine/core';
import { Undo2 } from 'lucide-react';
import { useId, useRef } from 'react';
import type { Conflict, Resolution, ResolutionChoice } from '../../../src-preload/contract/conflict.ts';
import type { ProposalDetail } from '../../../src-preload/contract/proposal.ts';
import { type ConflictSides, conflictWords, sidesOf } from '../../ui/conflicts.ts';
import { MemoryLine } from '../../ui/memory-text.tsx';
import { RefusedNotice } from '../../ui/states.tsx';
import { ConflictSidesView } from './conflict-sides.tsx';
import { type DraftState, useResolution } from './use-resolution.ts';
import { WillWrite } from './will-write.tsx';

interface ConflictCardProps {
  readonly proposal: ProposalDetail;
  readonly conflict: Conflict;
  readonly kept: Resolution | undefined;
}

const choices: readonly { readonly choice: ResolutionChoice; readonly label: string }[] = [
  { choice: 'ours', label: 'Keep ours' },
  { choice: 'theirs', label: 'Take theirs' },
  { choice: 'both', label: 'Keep both' },
  { choice: 'edit', label: 'Edit' },
];

const stateWords: Readonly<Record<DraftState, string>> = {
  none: 'Not settled',
  unfinished: 'Write the text that is to stand',
  saving: 'Saving…',
  saved: 'Draft saved',
  refused: 'Not saved',
};

/** One conflict: what each side says, how it is to be settled, and what the merge will write for it. */
export function ConflictCard({ proposal, conflict, kept }: ConflictCardProps) {
  const sides = sidesOf(conflict);
  const words = conflictWords[conflict.conflict_type];
  const open = proposal.status === 'pending' && conflict.status === 'open';
  const settled = conflict.status === 'resolved' || kept !== undefined;
  return (
    <article
      className="mg-card mg-change mg-conflict"
      data-tone="removed"
      data-conflict
      data-settled={settled}
      tabIndex={-1}
    >
      <header className="mg-change-head">
        <strong className="mg-conflict-name">{words.label}</strong>
        <span>{words.means}</span>
      </header>
      <p className="mg-conflict-summary">
        <MemoryLine text={conflict.summary} />
      </p>
      <ConflictSidesView sides={sides} />
      {open && <Settle proposalId={proposal.proposal_id} conflict={conflict} sides={sides} kept={kept} />}
      {!open && <Ended conflict={conflict} />}
    </article>
  );
}

interface SettleProps {
  readonly proposalId: string;
  readonly conflict: Conflict;
  readonly sides: ConflictSides;
  readonly kept: Resolution | undefined;
}

function Settle({ proposalId, conflict, sides, kept }: SettleProps) {
  const name = useId();
  const text = useRef<HTMLTextAreaElement>(null);
  const { draft, state, refusal, change, drop } = useResolution(proposalId, conflict.conflict_key, kept);
  const choose = (choice: ResolutionChoice): void => {
    if (choice === 'edit' && draft.content === '') {
      change({ choice, content: sides.ours?.content ?? sides.theirs?.content ?? '' });
    } else change({ choice });
    if (choice === 'edit') requestAnimationFrame(() => text.current?.focus());
  };
  return (
    <div className="mg-settle">
      <fieldset className="mg-settle-choices">
        <legend className="mg-hidden-label">How to settle it</legend>
        {choices.map(({ choice, label }) => (
          <label key={choice} className="mg-choice" data-checked={draft.choice === choice}>
            <input
              type="radio"
              name={name}
              data-choice={choice}
              checked={draft.choice === choice}
              onChange={() => choose(choice)}
            />
            {label}
          </label>
        ))}
        <span className="mg-settle-state" data-state={state} role="status">
          {stateWords[state]}
        </span>
        {draft.choice !== undefined && (
          <Button
            size="compact-xs"
            variant="subtle"
            color="gray"
            leftSection={<Undo2 size={13} aria-hidden />}
            data-undo
            aria-keyshortcuts="u"
            onClick={drop}
          >
            Undo
          </Button>
        )}
      </fieldset>
      {draft.choice === 'edit' && (
        <Textarea
          ref={text}
          label="The text that is to stand"
          autosize
          minRows={2}
          maxRows={14}
          value={draft.content}
          onChange={(event) => change({ content: event.currentTarget.value })}
        />
      )}
      {draft.choice === 'both' && !sides.isOneMemory && (
        <TextInput
          size="xs"
          label="Scope of the proposal’s one"
          description="Left empty, the two are related as contradicting each other."
          value={draft.scope}
          onChange={(event) => change({ scope: event.currentTarget.value })}
        />
      )}
      {draft.choice !== undefined && (
        <TextInput
          size="xs"
          label="Note"
          placeholder="Why, for whoever reads this later"
          value={draft.note}
          onChange={(event) => change({ note: event.currentTarget.value })}
        />
      )}
      {refusal !== null && <RefusedNotice refusal={refusal} />}
      {kept !== undefined && state === 'saved' && <WillWrite ops={kept.ops} />}
    </div>
  );
}

function Ended({ conflict }: { readonly conflict: Conflict }) {
  return (
    <p className="mg-quiet">
      {conflict.status === 'resolved' ? 'Settled' : `This conflict is ${conflict.status}`}
      {conflict.resolution_note !== undefined && conflict.resolution_note !== '' && (
        <>
          : <MemoryLine text={conflict.resolution_note} />
        </>
      )}
    </p>
  );
}
