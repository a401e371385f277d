import { useEffect, useRef, useState } from 'react';

const shownMs = 1_600;

/** Copies texts, and says for a moment that it did. Works where the clipboard permission is denied, as in the window. */
export function useCopy(): { readonly copied: boolean; readonly copy: (text: string) => void } {
  const [copied, setCopied] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const copy = (text: string): void => {
    void writeClipboard(text).then((done) => {
      clearTimeout(timer.current);
      setCopied(done);
      timer.current = setTimeout(() => setCopied(false), shownMs);
    });
  };
  return { copied, copy };
}

async function writeClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelection(text);
  }
}

/** The way that needs a key press or a click and no permission: select the text, then the copy command. */
function copySelection(text: string): boolean {
  const focused = document.activeElement;
  const holder = document.createElement('textarea');
  holder.value = text;
  holder.readOnly = true;
  holder.className = 'mg-hidden-label';
  // Inside an open dialog, whose focus trap would take the focus back from anywhere else.
  (focused?.closest('[role="dialog"]') ?? document.body).append(holder);
  holder.select();
  const done = document.execCommand('copy');
  holder.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return done;
}
