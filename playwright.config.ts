import { defineConfig } from '@playwright/test';

/** The journeys in a real Electron window, for machines that have the binary (`npm run test:electron`). */
export default defineConfig({
  testDir: 'test/electron',
  testMatch: '**/*.spec.ts',
  workers: 1,
  timeout: 120_000,
  reporter: 'list',
  outputDir: 'test-results',
});
