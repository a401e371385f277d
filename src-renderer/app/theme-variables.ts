import type { CSSVariablesResolver } from '@mantine/core';

/** Mantine's own surfaces and quiet texts, in the desk's colours, so that both kinds of component look alike. */
export const deskVariables: CSSVariablesResolver = () => ({
  variables: {
    '--mantine-color-body': 'var(--mg-surface)',
    '--mantine-color-text': 'var(--mg-ink)',
    '--mantine-color-dimmed': 'var(--mg-ink-3)',
    '--mantine-color-placeholder': 'var(--mg-ink-3)',
    '--mantine-color-default-border': 'var(--mg-line-strong)',
    '--mantine-color-default-hover': 'var(--mg-hover)',
    '--mantine-color-error': 'var(--mg-removed)',
    '--input-placeholder-color': 'var(--mg-ink-3)',
  },
  light: {},
  dark: {},
});
