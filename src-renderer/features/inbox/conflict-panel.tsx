import './conflict-panel.css';
import { OctagonAlert } from 'lucide-react';
import { useRef } from 'react';
import type { Conflict } from '../../../src-preload/contract/conflict.ts';
import type { ProposalDetail } from '../../../src-preload/contract/proposal.ts';
import { useKeys } from '../../ui/keys.tsx';
import { ConflictCard } from './conflict-card.tsx';
import { ConflictNotes } from './conflict-notes.tsx';

/** Everything that stands against a merge: blocking conflicts to settle one by one, then what is only worth knowing. */
export function ConflictPanel({ proposal }: { readonly proposal: ProposalDetail }) {
  const panel = useRef<HTMLElement>(null);
  const blocking = proposal.conflicts.filter(({ severity }) => severity === 'blocking');
  const others = proposal.conflicts.filter(({ severity }) => severity !== 'blocking');
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
            <span className="mg-quiet">{settledWords(proposal, blocking)}</span>
          </h2>
          <ul className="mg-changes mg-conflicts">
            {blocking.map((conflict) => (
              <li key={conflict.conflict_id}>
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
    </section>
  );
}

function settledWords({ status, resolutions }: ProposalDetail, blocking: readonly Conflict[]): string {
  if (status !== 'pending') return `${blocking.length}`;
  const keys = new Set(resolutions.map(({ conflict_key: key }) => key));
  const settled = blocking.filter(({ conflict_key: key, status: kept }) => kept === 'resolved' || keys.has(key));
  return `${settled.length} of ${blocking.length} settled`;
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
