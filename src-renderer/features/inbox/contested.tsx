import type { MergePreview } from '../../../src-preload/contract/proposal.ts';
import { formatRoute } from '../../ui/routes.ts';
import { plainLine } from '../../ui/visible-text.ts';
import { shortMemoryId } from '../../ui/words.ts';

/** Names the memories that both sides changed, each a way to what shared memory says of it now. */
export function Contested({ preview }: { readonly preview: MergePreview | null }) {
  if (preview === null || preview.contested_total === 0) return null;
  const more = preview.contested_total - preview.contested_memory_ids.length;
  return (
    <section className="mg-contested" aria-label="Changed on both sides">
      <p>
        Since they parted, shared memory and this proposal both changed what is listed here, or one retired what the
        other keeps in place of a duplicate. Request changes, so that its author starts again from the present head.
      </p>
      <ul>
        {preview.contested_memory_ids.map((memoryId) => (
          <li key={memoryId}>
            <a className="mg-mono" href={formatRoute({ screen: 'memory', memoryId, moment: { kind: 'now' } })}>
              {plainLine(shortMemoryId(memoryId))}
            </a>
          </li>
        ))}
        {more > 0 && <li>and {more.toLocaleString('en')} more</li>}
      </ul>
    </section>
  );
}
