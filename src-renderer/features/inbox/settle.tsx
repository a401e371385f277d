import { Button, Textarea, TextInput } from '@mantine/core';
import { CircleAlert, Undo2 } from 'lucide-react';
import { useId, useRef } from 'react';
import type { Conflict, Resolution, ResolutionChoice } from '../../../src-preload/contract/conflict.ts';
import type { ConflictSides } from '../../ui/conflicts.ts';
import { RefusedNotice } from '../../ui/states.tsx';
import type { DraftState } from './draft.ts';
import { useResolution } from './use-resolution.ts';
import { WillWrite } from './will-write.tsx';

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
  moved: 'Not saved: the sides changed',
};

interface SettleProps {
  readonly proposalId: string;
  readonly conflict: Conflict;
  readonly sides: ConflictSides;
  readonly kept: Resolution | undefined;
  /** Whether there is something to settle, not at this moment, or not any more. */
  readonly stage: 'open' | 'merging' | 'ended';
}

/** How a conflict is to be settled, kept as it is chosen and typed, and what the merge will write for it. */
export function Settle({ proposalId, conflict, sides, kept, stage }: SettleProps) {
  const name = useId();
  const text = useRef<HTMLTextAreaElement>(null);
  const resolution = useResolution(proposalId, conflict.conflict_key, kept, stage !== 'open');
  const { draft, state, refusal, change, flush, confirm, drop } = resolution;
  if (stage === 'merging') return null;
  if (stage === 'ended') return <LeftOver texts={[draft.choice === 'edit' ? draft.content : '', draft.note]} />;
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
          dir="auto"
          autosize
          minRows={2}
          maxRows={14}
          value={draft.content}
          onChange={(event) => change({ content: event.currentTarget.value })}
          onBlur={flush}
        />
      )}
      {draft.choice === 'both' && !sides.isOneMemory && (
        <TextInput
          size="xs"
          label="Scope of the proposal’s one"
          description="Left empty, the two are related as contradicting each other."
          value={draft.scope}
          onChange={(event) => change({ scope: event.currentTarget.value })}
          onBlur={flush}
        />
      )}
      {draft.choice !== undefined && (
        <TextInput
          size="xs"
          label="Note"
          dir="auto"
          placeholder="Why, for whoever reads this later"
          value={draft.note}
          onChange={(event) => change({ note: event.currentTarget.value })}
          onBlur={flush}
        />
      )}
      {refusal !== null && <RefusedNotice refusal={refusal} />}
      {state === 'moved' && <MovedOn confirm={confirm} />}
      {kept !== undefined && state === 'saved' && <Written kept={kept} />}
    </div>
  );
}

/** What the merge will write, or why it can write nothing for this choice. */
function Written({ kept }: { readonly kept: Resolution }) {
  if (kept.problem === undefined) return <WillWrite ops={kept.ops} />;
  return (
    <div className="mg-notice" role="alert">
      <CircleAlert size={16} aria-hidden />
      <p>This choice cannot be carried out as things stand, so the conflict is not settled: {kept.problem}.</p>
    </div>
  );
}

/** The sides say something else than when the draft was made: nobody has decided that yet, and nothing typed is lost. */
function MovedOn({ confirm }: { readonly confirm: () => void }) {
  return (
    <div className="mg-notice" data-tone="changed" role="alert">
      <CircleAlert size={16} aria-hidden />
      <p>The sides say something else since this was chosen. Look at them again: it counts once you keep it.</p>
      <Button size="compact-xs" variant="default" onClick={confirm}>
        Keep it for what stands now
      </Button>
    </div>
  );
}

/** What was typed for a proposal that ended meanwhile: to be read and copied, and for nothing else. */
function LeftOver({ texts }: { readonly texts: readonly string[] }) {
  const written = texts.filter((text) => text.trim() !== '');
  if (written.length === 0) return null;
  return (
    <Textarea
      label="What was written here, and not merged"
      dir="auto"
      readOnly
      autosize
      maxRows={14}
      value={written.join('\n\n')}
    />
  );
}
