import { Tooltip } from '@mantine/core';
import { Check, Copy } from 'lucide-react';
import { useCopy } from './copy.ts';
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
  const { copied, copy } = useCopy();
  const Icon = copied ? Check : Copy;
  return (
    <Tooltip label={copied ? 'Copied' : plainLine(id)} openDelay={300}>
      <button type="button" className="mg-id" onClick={() => copy(id)} aria-label={`Copy ${of} ${plainLine(id)}`}>
        {plainLine(label ?? shortId(id))}
        <Icon className="mg-id-icon" size={12} aria-hidden />
      </button>
    </Tooltip>
  );
}
