import { ShieldAlert } from 'lucide-react';
import { Foldable } from './foldable.tsx';
import { countUnseen, type VisiblePart, visibleParts } from './visible-text.ts';
import { count } from './words.ts';

/** Text that somebody else wrote, shown inert: nothing in it is markup, nothing in it acts unseen. */
export function Inert({ text }: { readonly text: string }) {
  return <>{visibleParts(text).map(renderPart)}</>;
}

function renderPart(part: VisiblePart, index: number) {
  if (part.kind === 'text') return part.text;
  return (
    <span key={index} className="mg-unseen" title={`${part.name}: shown here because it would act unseen`}>
      {part.code}
    </span>
  );
}

/** One line of such text inside other text. */
export function MemoryLine({ text }: { readonly text: string }) {
  return (
    <bdi className="mg-memory-line" dir="auto">
      <Inert text={text} />
    </bdi>
  );
}

/** A whole text: breaks kept, folded when long, with a note when it holds characters that would act unseen. */
export function MemoryText({ text }: { readonly text: string }) {
  return (
    <div>
      <Foldable text={text} className="mg-memory-text">
        <Inert text={text} />
      </Foldable>
      <UnseenNote texts={[text]} />
    </div>
  );
}

/** Says so when texts hold characters that would act unseen. */
export function UnseenNote({ texts }: { readonly texts: readonly string[] }) {
  const unseen = texts.reduce((sum, text) => sum + countUnseen(text), 0);
  if (unseen === 0) return null;
  return (
    <p className="mg-unseen-note">
      <ShieldAlert size={14} aria-hidden />
      {count(unseen, 'character')} here would act unseen; {unseen === 1 ? 'it is' : 'they are'} marked and inert.
    </p>
  );
}
