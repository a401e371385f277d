import { useNow } from './now.ts';
import { relativeTime, stamp } from './words.ts';

/** A moment as people say it, with the exact time on hover and for machines. */
export function When({ at }: { readonly at: string }) {
  const now = useNow();
  return (
    <time dateTime={at} title={stamp(at)}>
      {relativeTime(Date.parse(at), now)}
    </time>
  );
}
