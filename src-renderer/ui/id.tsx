import { CopyButton, Tooltip } from '@mantine/core';
import { Check, Copy } from 'lucide-react';
import { plainLine } from './visible-text.ts';
import { shortId } from './words.ts';

interface IdProps {
  readonly id: string;
  /** What it identifies, for the button's name: "Copy changeset id". */
  readonly of: string;
  /** Shown instead of the short id. */
  readonly label?: string | undefined;
}

/** A short id that copies the whole one when pressed. */
export function Id({ id, of, label }: IdProps) {
  return (
    <CopyButton value={id} timeout={1_600}>
      {({ copied, copy }) => (
        <Tooltip label={copied ? 'Copied' : plainLine(id)} openDelay={300}>
          <button type="button" className="mg-id" onClick={copy} aria-label={`Copy ${of} ${plainLine(id)}`}>
            {plainLine(label ?? shortId(id))}
            {copied ? (
              <Check className="mg-id-icon" size={12} aria-hidden />
            ) : (
              <Copy className="mg-id-icon" size={12} aria-hidden />
            )}
          </button>
        </Tooltip>
      )}
    </CopyButton>
  );
}
