import type { ReactNode } from 'react';

interface ScreenHeadProps {
  readonly title: string;
  readonly note?: ReactNode;
  readonly children?: ReactNode;
}

/** The head of a screen: its name, one line about it, its actions. */
export function ScreenHead({ title, note, children }: ScreenHeadProps) {
  return (
    <header className="mg-head">
      <h1>{title}</h1>
      {note !== undefined && <span className="mg-head-note">{note}</span>}
      {children !== undefined && <div className="mg-head-actions">{children}</div>}
    </header>
  );
}
