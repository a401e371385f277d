import { resolve } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'electron-vite';

const root = import.meta.dirname;
const shell = (file: string): string => resolve(root, 'src-main/shells', file);

/** Programs beside the window: each is an entry of its own, so that it starts without loading Electron's code. */
const programs = {
  ...{ engine: shell('engine.ts'), charon: shell('charon.ts'), lethe: shell('lethe.ts') },
  // A thread that the store starts to look over its tables.
  'tables-thread': resolve(root, 'src-main/lethe/verify/tables-thread.ts'),
};

export default defineConfig({
  main: {
    build: {
      outDir: 'out/main',
      target: 'node24',
      minify: false,
      sourcemap: true,
      rolldownOptions: {
        input: { index: shell('electron/main.ts'), ...programs },
        output: { format: 'es', entryFileNames: '[name].js', chunkFileNames: 'chunks/[name]-[hash].js' },
      },
    },
  },
  preload: {
    build: {
      outDir: 'out/preload',
      minify: false,
      // A sandboxed preload can require nothing but electron: everything else goes into the one bundle.
      externalizeDeps: false,
      rolldownOptions: {
        input: { bridge: resolve(root, 'src-preload/bridge.ts') },
        output: { format: 'cjs', entryFileNames: '[name].cjs', codeSplitting: false },
      },
    },
  },
  renderer: {
    root: resolve(root, 'src-renderer'),
    base: './',
    plugins: [react()],
    build: {
      outDir: resolve(root, 'out/renderer'),
      target: 'chrome140',
      minify: true,
      // Inlined assets would need looser content rules than 'self'.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      rolldownOptions: { input: resolve(root, 'src-renderer/index.html') },
    },
  },
});
