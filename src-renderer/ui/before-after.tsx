import { useMemo } from 'react';
import { Foldable } from './foldable.tsx';
import { Inert, UnseenNote } from './memory-text.tsx';
import { type DiffPart, wordDiff } from './word-diff.ts';

/** Before and after in one running text: what went is struck through, what came is marked. */
export function BeforeAfter({ before, after }: { readonly before: string; readonly after: string }) {
  // Long texts take their time, and what is shown is drawn anew with every answer of the engine.
  const parts = useMemo(() => wordDiff(before, after).map(renderPart), [before, after]);
  return (
    <div>
      <Foldable text={before + after} className="mg-diff">
        {parts}
      </Foldable>
      <UnseenNote texts={[before, after]} />
    </div>
  );
}

function renderPart(part: DiffPart, index: number) {
  const text = <Inert text={part.text} />;
  const key = `${index}-${part.kind}`;
  if (part.kind === 'removed') return <del key={key}>{text}</del>;
  if (part.kind === 'added') return <ins key={key}>{text}</ins>;
  return <span key={key}>{text}</span>;
}
