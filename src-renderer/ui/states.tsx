import { Button, Loader } from '@mantine/core';
import { CircleAlert, type LucideIcon, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Refusal } from '../bridge/refusal.ts';
import { remedyByCode } from './remedies.ts';
import { plainLine } from './visible-text.ts';

/** Something is being fetched. `what` names it: "the inbox". */
export function Loading({ what }: { readonly what: string }) {
  return (
    <div className="mg-state" role="status">
      <Loader size="sm" type="dots" />
      <span className="mg-hidden-label">Loading {what}</span>
    </div>
  );
}

interface EmptyProps {
  readonly icon: LucideIcon;
  readonly title: string;
  readonly children?: ReactNode;
}

/** There is nothing yet: says so and what the next step is. */
export function Empty({ icon: Icon, title, children }: EmptyProps) {
  return (
    <div className="mg-state">
      <span className="mg-state-icon">
        <Icon size={22} aria-hidden />
      </span>
      <h2>{title}</h2>
      {children}
    </div>
  );
}

interface RefusedProps {
  readonly refusal: Refusal;
  /** Asks again, where asking again can help. */
  readonly retry?: (() => void) | undefined;
}

/** A whole pane that could not be had: what happened, what to do. */
export function Refused({ refusal, retry }: RefusedProps) {
  return (
    <div className="mg-state" role="alert">
      <span className="mg-state-icon" data-tone="removed">
        <TriangleAlert size={22} aria-hidden />
      </span>
      <h2>{plainLine(refusal.message, 400)}</h2>
      <p>{remedyByCode[refusal.code]}</p>
      {retry !== undefined && (
        <Button variant="default" size="xs" onClick={retry}>
          Try again
        </Button>
      )}
    </div>
  );
}

/** The same beside the button that was refused. */
export function RefusedNotice({ refusal }: { readonly refusal: Refusal }) {
  return (
    <div className="mg-notice" role="alert">
      <CircleAlert size={16} aria-hidden />
      <div>
        <p>{plainLine(refusal.message, 400)}</p>
        <p>{remedyByCode[refusal.code]}</p>
      </div>
    </div>
  );
}
