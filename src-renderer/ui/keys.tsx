import { useEffect, useRef } from 'react';

/** What each key does on a screen: `j`, `Enter`, `?`. Keys are as `KeyboardEvent.key` says them. */
export type KeyActions = readonly (readonly [key: string, act: () => void])[];

/** A key on a keyboard, as text. */
export function Key({ name }: { readonly name: string }) {
  return <kbd className="mg-kbd">{name}</kbd>;
}

/** Single keys for the screen that is shown. They rest while somebody types, while a dialog is open, and with a modifier. */
export function useKeys(actions: KeyActions): void {
  const latest = useRef(actions);
  useEffect(() => {
    latest.current = actions;
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isBusy(event)) return;
      const action = latest.current.find(([key]) => key === event.key)?.[1];
      if (action === undefined) return;
      event.preventDefault();
      action();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);
}

/** Where a key is text, or moves within a list. In a choice or a tick, letters mean what they mean on the screen. */
const takesKeys =
  'input:not([type="radio"], [type="checkbox"]), textarea, select, [contenteditable="true"], [role="listbox"]';

function isBusy(event: KeyboardEvent): boolean {
  if (document.querySelector('[role="dialog"]') !== null) return true;
  const target = event.target;
  if (!(target instanceof HTMLElement)) return false;
  if (target.closest(takesKeys) !== null) return true;
  return event.key === 'Enter' && target.closest('a, button') !== null;
}
