import { diffArrays } from 'diff';

/** A stretch of text that both sides share, or that only one has. */
export interface DiffPart {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
}

/** Texts longer than this together are shown as replaced whole: word differences would neither be quick nor read well. */
const charsMax = 60_000;

/**
 * Word-level differences in any script (words as `Intl.Segmenter` finds them). Same and removed parts joined give
 * `before`; same and added parts joined give `after`. At most 250 ms, then the whole text counts as replaced.
 */
export function wordDiff(before: string, after: string): readonly DiffPart[] {
  if (before === after) return before === '' ? [] : [{ kind: 'same', text: before }];
  if (before.length + after.length > charsMax) return replaced(before, after);
  const changes = diffArrays(words(before), words(after), { timeout: 250 });
  if (changes === undefined) return replaced(before, after);
  return joinIslands(
    changes.map((change) => ({
      kind: change.added ? 'added' : change.removed ? 'removed' : 'same',
      text: change.value.join(''),
    })),
  );
}

function words(text: string): string[] {
  const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });
  return Array.from(segmenter.segment(text), (part) => part.segment);
}

function replaced(before: string, after: string): readonly DiffPart[] {
  const parts: DiffPart[] = [
    { kind: 'removed', text: before },
    { kind: 'added', text: after },
  ];
  return parts.filter((part) => part.text !== '');
}

/** A lone space between two changed words reads better as part of the change: removed a, same ' ', removed b → removed 'a b'. */
function joinIslands(parts: readonly DiffPart[]): readonly DiffPart[] {
  const joined: DiffPart[] = [];
  let removed = '';
  let added = '';
  const flush = (): void => {
    if (removed !== '') joined.push({ kind: 'removed', text: removed });
    if (added !== '') joined.push({ kind: 'added', text: added });
    removed = '';
    added = '';
  };
  parts.forEach((part, index) => {
    if (part.kind === 'removed') removed += part.text;
    else if (part.kind === 'added') added += part.text;
    else if (part.text.trim() === '' && removed !== '' && added !== '' && index < parts.length - 1) {
      removed += part.text;
      added += part.text;
    } else {
      flush();
      joined.push(part);
    }
  });
  flush();
  return joined;
}
