import type { ActOfPower, Confirmed } from '../../../src-preload/contract/commands/owner-word.ts';
import { Id } from '../../ui/id.tsx';
import { plainLine } from '../../ui/visible-text.ts';
import { When } from '../../ui/when.tsx';
import { doorWords, toneOf } from './entry-words.ts';

const confirmedWords: Readonly<Record<Confirmed, string>> = {
  off: 'nobody was asked',
  passphrase: 'with the passphrase',
  desk: 'allowed at the desk',
};

/** What an act was about; how it was confirmed stands beside its title, and the request for it is nobody's object. */
function objectsOf({ object_ids: ids }: ActOfPower): readonly string[] {
  return ids.filter((id) => !/^(confirmed|request): /.test(id)).slice(0, 3);
}

/** What command lines did that gives rights or puts memory into main, newest first. */
export function Acts({ acts }: { readonly acts: readonly ActOfPower[] }) {
  return (
    <ul className="mg-list mg-card" aria-label="Acts of power outside the desk">
      {acts.map((act) => (
        <li key={act.seq} className="mg-row">
          <p>
            <strong>{plainLine(act.title, 80)}</strong>{' '}
            <span className="mg-chip" data-tone={toneOf(act)}>
              <span>{plainLine(act.outcome, 60)}</span>
            </span>{' '}
            <span className="mg-chip" data-tone={act.confirmed === 'off' ? 'changed' : 'noted'}>
              {confirmedWords[act.confirmed]}
            </span>
          </p>
          <p className="mg-row-meta">
            <When at={act.at} />
            <span>{doorWords[act.door]}</span>
            <span>entry {act.seq}</span>
            {act.project !== '' && <span>{plainLine(act.project, 60)}</span>}
            {objectsOf(act).map((id) => (
              <Id key={id} id={id} of="id" />
            ))}
          </p>
        </li>
      ))}
    </ul>
  );
}
