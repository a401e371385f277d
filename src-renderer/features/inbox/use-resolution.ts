import { useEffect, useEffectEvent, useState } from 'react';
import type { CommandInput } from '../../../src-preload/contract/commands/table.ts';
import type { Resolution, ResolutionChoice } from '../../../src-preload/contract/conflict.ts';
import { useEngineCommand } from '../../bridge/queries.tsx';
import { type Refusal, refusalOf } from '../../bridge/refusal.ts';

/** How a conflict would be settled, as it stands on screen. */
export interface Draft {
  readonly choice: ResolutionChoice | undefined;
  readonly note: string;
  readonly content: string;
  readonly scope: string;
}

/** What is on screen is kept, is being kept, is not whole yet, or could not be kept. */
export type DraftState = 'none' | 'unfinished' | 'saving' | 'saved' | 'refused';

type ResolutionInput = CommandInput<'proposal.draft_resolution'>['resolution'];

interface ResolutionControl {
  readonly draft: Draft;
  readonly state: DraftState;
  readonly refusal: Refusal | null;
  readonly change: (part: Partial<Draft>) => void;
  /** Takes the choice back: the conflict is open again, as before it was touched. */
  readonly drop: () => void;
}

/** Texts are kept when typing rests this long. Milliseconds. */
const restMs = 500;

/** Keeps a draft under its conflict as it is typed; what the engine keeps is what another window shows. */
export function useResolution(
  proposalId: string,
  conflictKey: string,
  kept: Resolution | undefined,
): ResolutionControl {
  const save = useEngineCommand('proposal.draft_resolution');
  const discard = useEngineCommand('proposal.drop_resolution');
  const [draft, setDraft] = useState(() => draftOf(kept));
  const [dirty, setDirty] = useState(false);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const attempt = async (act: () => Promise<unknown>): Promise<void> => {
    setRefusal(null);
    try {
      await act();
    } catch (error) {
      setRefusal(refusalOf(error));
    }
  };
  const keep = useEffectEvent((rested: Draft) => {
    const resolution = inputOf(conflictKey, rested);
    if (resolution === undefined) return;
    setDirty(false);
    void attempt(() => save.mutateAsync({ proposal_id: proposalId, resolution }));
  });
  useEffect(() => {
    if (!dirty) return;
    const timer = setTimeout(() => keep(draft), restMs);
    return () => clearTimeout(timer);
  }, [draft, dirty]);
  const leave = useEffectEvent(() => {
    if (dirty) keep(draft);
  });
  useEffect(() => () => leave(), []);
  const whole = inputOf(conflictKey, draft) !== undefined;
  return {
    draft,
    refusal,
    state: stateOf({ draft, whole, dirty, busy: save.isPending, refused: refusal !== null }),
    change: (part) => {
      setDraft({ ...draft, ...part });
      setDirty(true);
    },
    drop: () => {
      setDraft(draftOf(undefined));
      setDirty(false);
      void attempt(() => discard.mutateAsync({ proposal_id: proposalId, conflict_key: conflictKey }));
    },
  };
}

function draftOf(kept: Resolution | undefined): Draft {
  return {
    choice: kept?.choice,
    note: kept?.note ?? '',
    content: kept?.content ?? '',
    scope: kept?.scope ?? '',
  };
}

/** The draft as the engine takes it; undefined while something that it needs is missing. */
export function inputOf(conflictKey: string, draft: Draft): ResolutionInput | undefined {
  const { choice, note, content, scope } = draft;
  if (choice === undefined || (choice === 'edit' && content.trim() === '')) return undefined;
  return {
    conflict_key: conflictKey,
    choice,
    ...(note.trim() === '' ? {} : { note: note.trim() }),
    ...(choice === 'edit' ? { content } : {}),
    ...(choice === 'both' && scope.trim() !== '' ? { scope: scope.trim() } : {}),
  };
}

interface DraftMarks {
  readonly draft: Draft;
  readonly whole: boolean;
  readonly dirty: boolean;
  readonly busy: boolean;
  readonly refused: boolean;
}

function stateOf({ draft, whole, dirty, busy, refused }: DraftMarks): DraftState {
  if (draft.choice === undefined) return 'none';
  if (refused) return 'refused';
  if (!whole) return 'unfinished';
  return dirty || busy ? 'saving' : 'saved';
}
