import { Button, type ButtonProps } from '@mantine/core';
import { Check, Copy } from 'lucide-react';
import { useCopy } from './copy.ts';

interface CopyButtonProps {
  readonly label: string;
  readonly text: string;
  /** What a screen reader says, when the label alone is not enough. */
  readonly spoken?: string | undefined;
  readonly size?: ButtonProps['size'];
  readonly variant?: 'default' | 'subtle';
}

/** A button that copies a text and says for a moment that it did. */
export function CopyButton({ label, text, spoken, size = 'xs', variant = 'default' }: CopyButtonProps) {
  const { copied, copy } = useCopy();
  const Icon = copied ? Check : Copy;
  return (
    <Button
      size={size}
      variant={variant}
      leftSection={<Icon size={13} aria-hidden />}
      aria-label={spoken ?? label}
      onClick={() => copy(text)}
    >
      {copied ? 'Copied' : label}
    </Button>
  );
}
