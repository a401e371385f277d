import { createTheme, type MantineColorsTuple } from '@mantine/core';

const river: MantineColorsTuple = [
  '#e9f6f5',
  '#d3eae9',
  '#a6d6d4',
  '#76c0be',
  '#4fadac',
  '#359b9c',
  '#1f7f83',
  '#12686c',
  '#0d5357',
  '#063c3f',
];

const leaf: MantineColorsTuple = [
  '#e8f6ed',
  '#d2ebdc',
  '#a5d7b9',
  '#75c294',
  '#4daf75',
  '#34a362',
  '#278a50',
  '#1f6b42',
  '#165536',
  '#083d24',
];

const clay: MantineColorsTuple = [
  '#fdecea',
  '#f7d6d2',
  '#ecaaa3',
  '#e27b72',
  '#d95448',
  '#d13c30',
  '#bb332a',
  '#a3312a',
  '#842620',
  '#641a16',
];

const dark: MantineColorsTuple = [
  '#e4ebea',
  '#b3c0be',
  '#93a3a1',
  '#657472',
  '#3a484a',
  '#263133',
  '#1b2325',
  '#161c1e',
  '#101516',
  '#0c1112',
];

/** The desk's Mantine theme: quiet neutrals, one river colour, small radii, 13 px controls. */
export const deskTheme = createTheme({
  primaryColor: 'river',
  primaryShade: { light: 7, dark: 7 },
  colors: { river, leaf, clay, dark },
  fontFamily: 'var(--mg-sans)',
  fontFamilyMonospace: 'var(--mg-mono)',
  defaultRadius: 'sm',
  radius: { xs: '0.25rem', sm: '0.375rem', md: '0.5rem', lg: '0.75rem', xl: '1rem' },
  fontSizes: { xs: '0.75rem', sm: '0.8125rem', md: '0.875rem', lg: '1.0625rem', xl: '1.25rem' },
  spacing: { xs: '0.5rem', sm: '0.75rem', md: '1rem', lg: '1.5rem', xl: '2rem' },
  fontWeights: { regular: '400', medium: '500', bold: '600' },
  headings: { fontWeight: '600' },
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    Button: { defaultProps: { size: 'xs' } },
    Tooltip: { defaultProps: { withArrow: true, openDelay: 250, maw: 340, multiline: true } },
    Modal: {
      defaultProps: {
        centered: true,
        closeButtonProps: { 'aria-label': 'Close' },
        overlayProps: { backgroundOpacity: 0.35, blur: 1 },
      },
    },
    Notification: { defaultProps: { closeButtonProps: { 'aria-label': 'Dismiss' } } },
    TextInput: { defaultProps: { size: 'sm' } },
    Select: { defaultProps: { size: 'sm' } },
    Textarea: { defaultProps: { size: 'sm' } },
  },
});
