import './change-list.css';
import type { SemanticDiff } from '../../src-preload/contract/diff.ts';
import { ChangeCard, type Tick } from './change-card.tsx';
import { type Change, categoryWords, groupChanges } from './changes.ts';

interface ChangeListProps {
  readonly diffs: readonly SemanticDiff[];
  readonly nameOf: (principalId: string) => string;
  /** Where changes can be ticked: how one is. */
  readonly tickOf?: ((change: Change) => Tick) | undefined;
}

/** The changes between two states, grouped by meaning. */
export function ChangeList({ diffs, nameOf, tickOf }: ChangeListProps) {
  return groupChanges(diffs).map(({ category, changes }) => (
    <section key={category} className="mg-section" aria-label={categoryWords[category].heading}>
      <h2>
        <span className="mg-chip" data-tone={categoryWords[category].tone}>
          {categoryWords[category].heading}
        </span>
        <span className="mg-quiet">{changes.length.toLocaleString('en')}</span>
      </h2>
      <ul className="mg-changes">
        {changes.map((change) => (
          <li key={change.key}>
            <ChangeCard change={change} nameOf={nameOf} tick={tickOf?.(change)} />
          </li>
        ))}
      </ul>
    </section>
  ));
}
