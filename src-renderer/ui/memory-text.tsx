import { Button } from '@mantine/core';
import { ShieldAlert } from 'lucide-react';
import { useId, useState } from 'react';
import { countUnseen, type VisiblePart, visibleParts } from './visible-text.ts';
import { count } from './words.ts';

/** Longer texts start folded. */
const foldedFromChars = 1_400;
const foldedFromLines = 16;

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
  const [open, setOpen] = useState(false);
  const id = useId();
  const long = text.length > foldedFromChars || text.split('\n').length > foldedFromLines;
  return (
    <div>
      <div id={id} className={long && !open ? 'mg-memory-text mg-folded' : 'mg-memory-text'} dir="auto">
        <Inert text={text} />
      </div>
      {long && (
        <Button
          variant="subtle"
          size="compact-xs"
          aria-expanded={open}
          aria-controls={id}
          onClick={() => setOpen(!open)}
        >
          {open ? 'Show less' : `Show all ${text.length.toLocaleString('en')} characters`}
        </Button>
      )}
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
