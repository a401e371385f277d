import './conflict-panel.css';
import { Button } from '@mantine/core';
import { OctagonAlert } from 'lucide-react';
import { useRef } from 'react';
import type { ProposalDetail } from '../../../src-preload/contract/proposal.ts';
import { useKeys } from '../../ui/keys.tsx';
import { count } from '../../ui/words.ts';
import { ConflictCard } from './conflict-card.tsx';
import { ConflictNotes } from './conflict-notes.tsx';
import { cardKeys } from './conflict-state.ts';

interface ConflictPanelProps {
  readonly proposal: ProposalDetail;
  /** Reads on; undefined when everything was read. */
  readonly more: (() => void) | undefined;
}

/** Everything that stands against a merge: blocking conflicts to settle one by one, then what is only worth knowing. */
export function ConflictPanel({ proposal, more }: ConflictPanelProps) {
  const panel = useRef<HTMLElement>(null);
  const blocking = proposal.conflicts.filter(({ severity }) => severity === 'blocking');
  const others = proposal.conflicts.filter(({ severity }) => severity !== 'blocking');
  const keys = cardKeys(blocking);
  const { conflict_counts: counts } = proposal;
  const unread = counts.blocking + counts.warning + counts.info - proposal.conflicts.length;
  const step = (): void => focusNext(panel.current);
  const onSide = (side: string) => (): void => focusSide(panel.current, side);
  useKeys([
    ['n', step],
    ['1', onSide('base')],
    ['2', onSide('ours')],
    ['3', onSide('theirs')],
    ['e', () => clickIn(panel.current, '[data-choice="edit"]')],
    ['u', () => clickIn(panel.current, '[data-undo]')],
  ]);
  if (proposal.conflicts.length === 0) return null;
  return (
    <section className="mg-section" aria-label="Conflicts" ref={panel}>
      {blocking.length > 0 && (
        <>
          <h2>
            <span className="mg-chip" data-tone="removed">
              <OctagonAlert size={13} aria-hidden /> Conflicts
            </span>
            <span className="mg-quiet">{settledWords(proposal)}</span>
          </h2>
          <ul className="mg-changes mg-conflicts">
            {blocking.map((conflict, index) => (
              <li key={keys[index]}>
                <ConflictCard
                  proposal={proposal}
                  conflict={conflict}
                  kept={proposal.resolutions.find(({ conflict_key: key }) => key === conflict.conflict_key)}
                />
              </li>
            ))}
          </ul>
        </>
      )}
      <ConflictNotes conflicts={others} />
      {unread > 0 && more !== undefined && (
        <Button variant="default" size="xs" onClick={more}>
          Show more conflicts, {count(unread, 'more', 'more')} to read
        </Button>
      )}
    </section>
  );
}

function settledWords({ status, conflict_counts: { blocking, unresolved } }: ProposalDetail): string {
  if (status !== 'pending') return blocking.toLocaleString('en');
  return `${(blocking - unresolved).toLocaleString('en')} of ${blocking.toLocaleString('en')} settled`;
}

/** The card that the keyboard is in, or the first that is not settled. */
function currentCard(panel: HTMLElement | null): HTMLElement | null {
  if (panel === null) return null;
  const focused = document.activeElement?.closest<HTMLElement>('[data-conflict]') ?? null;
  if (focused !== null && panel.contains(focused)) return focused;
  return (
    panel.querySelector<HTMLElement>('[data-conflict][data-settled="false"]') ?? panel.querySelector('[data-conflict]')
  );
}

function focusNext(panel: HTMLElement | null): void {
  if (panel === null) return;
  const cards = [...panel.querySelectorAll<HTMLElement>('[data-conflict]')];
  const at = cards.findIndex((card) => card.contains(document.activeElement));
  const next = cards[(at + 1) % cards.length];
  next?.focus();
  next?.scrollIntoView({ block: 'start' });
}

function focusSide(panel: HTMLElement | null, side: string): void {
  const column = currentCard(panel)?.querySelector<HTMLElement>(`[data-side="${side}"]`);
  column?.focus();
  column?.scrollIntoView({ block: 'nearest' });
}

function clickIn(panel: HTMLElement | null, selector: string): void {
  currentCard(panel)?.querySelector<HTMLElement>(selector)?.click();
}
