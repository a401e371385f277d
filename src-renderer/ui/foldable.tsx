import { Button } from '@mantine/core';
import { type ReactNode, useId, useState } from 'react';

/** Longer texts start folded. */
const foldedFromChars = 1_400;
const foldedFromLines = 16;

interface FoldableProps {
  /** The text inside, by whose length it is decided whether there is anything to fold. */
  readonly text: string;
  readonly className: string;
  readonly children: ReactNode;
}

/** Text that starts folded when it is long, with a button that shows all of it. */
export function Foldable({ text, className, children }: FoldableProps) {
  const [open, setOpen] = useState(false);
  const id = useId();
  const long = text.length > foldedFromChars || text.split('\n').length > foldedFromLines;
  return (
    <>
      <div id={id} className={long && !open ? `${className} mg-folded` : className} dir="auto">
        {children}
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
    </>
  );
}
