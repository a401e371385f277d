import { useEffect, useEffectEvent, useRef, useState } from 'react';
import type { Resolution } from '../../../src-preload/contract/conflict.ts';
import { useEngineCommand } from '../../bridge/queries.tsx';
import { type Refusal, refusalOf } from '../../bridge/refusal.ts';
import { type Draft, type DraftState, followEngine, inputOf, openSheet, stateOf } from './draft.ts';

interface ResolutionControl {
  readonly draft: Draft;
  readonly state: DraftState;
  readonly refusal: Refusal | null;
  readonly change: (part: Partial<Draft>) => void;
  /** Keeps what was typed now, and not only once typing rests. */
  readonly flush: () => void;
  /** Keeps a draft that was made for what the sides said before, for what they say now. */
  readonly confirm: () => void;
  /** Takes the choice back: the conflict is open again, as before it was touched. */
  readonly drop: () => void;
}

/** Texts are kept when typing rests this long. Milliseconds. */
const restMs = 500;

/**
 * Keeps a draft under its conflict as it is typed, one request after the other; what the engine keeps is what another window
 * shows. While `closed`, nothing is sent, and what was typed stays readable.
 */
export function useResolution(
  proposalId: string,
  conflictKey: string,
  kept: Resolution | undefined,
  closed: boolean,
): ResolutionControl {
  const save = useEngineCommand('proposal.draft_resolution');
  const discard = useEngineCommand('proposal.drop_resolution');
  const [known, setSheet] = useState(() => openSheet(conflictKey, kept));
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const [waiting, setWaiting] = useState(0);
  const before = useRef(Promise.resolve());
  const busy = waiting > 0;
  const sheet = closed ? known : followEngine(known, { conflictKey, kept, idle: !busy && refusal === null });
  if (sheet !== known) setSheet(sheet);

  const send = (act: () => Promise<unknown>): void => {
    setRefusal(null);
    setWaiting((count) => count + 1);
    before.current = before.current.then(async () => {
      try {
        await act();
      } catch (error) {
        setRefusal(refusalOf(error));
      }
      setWaiting((count) => count - 1);
    });
  };
  const keep = (draft: Draft): void => {
    const resolution = inputOf(conflictKey, draft);
    setSheet({ ...sheet, draft, subject: conflictKey, dirty: resolution === undefined });
    if (resolution !== undefined) send(() => save.mutateAsync({ proposal_id: proposalId, resolution }));
  };
  const isCurrent = sheet.subject === conflictKey && !closed;
  const keepTyped = (): void => {
    if (sheet.dirty && isCurrent && inputOf(conflictKey, sheet.draft) !== undefined) keep(sheet.draft);
  };
  const flush = useEffectEvent(keepTyped);
  useEffect(() => {
    if (!sheet.dirty) return;
    const timer = setTimeout(() => flush(), restMs);
    return () => clearTimeout(timer);
  }, [sheet]);
  useEffect(() => () => flush(), []);
  return {
    draft: sheet.draft,
    refusal,
    state: stateOf(sheet, { conflictKey, busy, refused: refusal !== null }),
    change: (part) => {
      const draft = { ...sheet.draft, ...part };
      if (part.choice !== undefined && isCurrent) keep(draft);
      else setSheet({ ...sheet, draft, dirty: true });
    },
    flush: keepTyped,
    confirm: () => keep(sheet.draft),
    drop: () => {
      setSheet(openSheet(conflictKey, undefined));
      send(() => discard.mutateAsync({ proposal_id: proposalId, conflict_key: conflictKey }));
    },
  };
}
