import { conflictWords, memoriesOf } from '../../ui/conflicts.ts';
import { MemoryLine } from '../../ui/memory-text.tsx';
import { formatRoute } from '../../ui/routes.ts';
import { plainLine } from '../../ui/visible-text.ts';
import { When } from '../../ui/when.tsx';
import { shortMemoryId } from '../../ui/words.ts';
import { type ConflictRow, groupConflicts } from './group-conflicts.ts';

const severityTones = { blocking: 'removed', warning: 'changed', info: 'noted' } as const;

/** Conflicts under their types, the gravest first, each a way to the proposal in which it is settled. */
export function ConflictGroups({ rows }: { readonly rows: readonly ConflictRow[] }) {
  return groupConflicts(rows).map(({ type, severity, rows: members }) => (
    <section key={`${severity} ${type}`} className="mg-section" aria-label={conflictWords[type].label}>
      <h2>
        <span className="mg-chip" data-tone={severityTones[severity]}>
          {conflictWords[type].label}
        </span>
        <span className="mg-quiet">
          {members.length.toLocaleString('en')}, {severity === 'blocking' ? 'blocks merging' : severity}
        </span>
      </h2>
      <p className="mg-quiet">{conflictWords[type].means}</p>
      <ul className="mg-list mg-card">
        {members.map((row) => (
          <li key={`${row.conflict.conflict_id} ${row.conflict.proposal_id}`}>
            <Row row={row} />
          </li>
        ))}
      </ul>
    </section>
  ));
}

function Row({ row: { conflict, message } }: { readonly row: ConflictRow }) {
  const kept = !conflict.created_at.startsWith('0001-');
  const body = (
    <>
      <span className="mg-row-title">
        <MemoryLine text={conflict.summary} />
      </span>
      <span className="mg-row-meta">
        {conflict.status !== 'open' && <span className="mg-chip">{conflict.status}</span>}
        <span>{message === undefined ? 'a proposal' : plainLine(message, 80)}</span>
        {kept && <When at={conflict.created_at} />}
        {memoriesOf(conflict).map((id) => (
          <span key={id} className="mg-mono">
            {plainLine(shortMemoryId(id), 60)}
          </span>
        ))}
      </span>
    </>
  );
  if (conflict.proposal_id === undefined) return <div className="mg-row">{body}</div>;
  return (
    <a className="mg-row" href={formatRoute({ screen: 'inbox', proposalId: conflict.proposal_id })}>
      {body}
    </a>
  );
}
