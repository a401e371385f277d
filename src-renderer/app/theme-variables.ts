import type { CSSVariablesResolver } from '@mantine/core';

const colors = {
  '--mantine-color-body': 'var(--mg-surface)',
  '--mantine-color-text': 'var(--mg-ink)',
  '--mantine-color-dimmed': 'var(--mg-ink-3)',
  '--mantine-color-placeholder': 'var(--mg-ink-3)',
  '--mantine-color-default-border': 'var(--mg-line-strong)',
  '--mantine-color-default-hover': 'var(--mg-hover)',
  '--mantine-color-error': 'var(--mg-removed)',
};

/** Mantine's own surfaces and quiet texts in the desk's colours, which follow the scheme by themselves. */
export const deskVariables: CSSVariablesResolver = () => ({ variables: {}, light: colors, dark: colors });
