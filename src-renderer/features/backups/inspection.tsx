import { CircleAlert, CircleCheckBig } from 'lucide-react';
import { plainLine } from '../../ui/visible-text.ts';
import { count } from '../../ui/words.ts';
import { type BackupInspection, differenceWords } from './backup-words.ts';

/** What was found in a backup, and what going back to it would change. */
export function Inspection({ inspection }: { readonly inspection: BackupInspection }) {
  const { ok, findings, notes, goes_back: back } = inspection;
  const Icon = ok ? CircleCheckBig : CircleAlert;
  return (
    <section className="mg-section" aria-label="Inspection">
      <h2>Inspection</h2>
      <div className="mg-notice" data-tone={ok ? 'added' : undefined}>
        <Icon size={16} aria-hidden />
        <div>
          <p>{ok ? 'Everything in it verifies.' : `${count(findings.length, 'finding')}: it is not restored.`}</p>
          {findings.slice(0, 20).map((finding) => (
            <p key={`${finding.where} ${finding.problem}`}>
              <span className="mg-mono">{plainLine(finding.where, 120)}</span>: {plainLine(finding.problem, 300)}
            </p>
          ))}
          {notes.map((note) => (
            <p key={note}>{plainLine(note, 300)}</p>
          ))}
        </div>
      </div>
      {back !== null && (
        <>
          <h3 className="mg-section-title">Going back to it would mean</h3>
          <ul className="mg-list mg-card">
            {back.projects.map((project) => (
              <li key={project.project} className="mg-row">
                <strong>{plainLine(project.project, 80)}</strong> <span>{differenceWords(project)}</span>
              </li>
            ))}
            <li className="mg-row">
              {count(back.tokens_to_approve, 'token')} to be approved again, {count(back.tokens_lost, 'token')} gone,{' '}
              {count(back.proposals_lost, 'proposal')} gone,{' '}
              {count(back.audit_entries_lost, 'audit entry', 'audit entries')} gone
            </li>
          </ul>
          <p className="mg-quiet">What is here now is kept aside as a backup of its own, and can be put back.</p>
        </>
      )}
    </section>
  );
}
