import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { SlowFirst } from './test/support/slow-first.ts';

/** The suites of the policy engine over a store in another process evaluate other test files anew, and say how they reach it. */
const alone = ['test/upstream/charon-*.test.ts'];
const limits = { environment: 'node', testTimeout: 20_000, hookTimeout: 20_000 } as const;

export default defineConfig({
  test: {
    // Many files wait for processes of their own: one more at a time than there are cores keeps both of two cores busy.
    maxWorkers: availableParallelism() + 1,
    globalSetup: ['test/support/folders-in-memory.ts'],
    sequence: { sequencer: SlowFirst },
    projects: [
      {
        test: {
          ...limits,
          name: 'unit',
          include: ['test/**/*.test.{ts,tsx}'],
          exclude: ['test/architecture/**', 'test/journeys/**', 'test/fixtures/**', ...alone],
          // Nothing in the sources remembers anything outside of what it is given, so files share what is loaded, worker by worker.
          isolate: false,
        },
      },
      { test: { ...limits, name: 'unit-alone', include: alone } },
      {
        test: {
          name: 'architecture',
          include: ['test/architecture/**/*.test.ts'],
          environment: 'node',
          testTimeout: 30_000,
        },
      },
      {
        test: {
          name: 'journeys',
          include: ['test/journeys/**/*.test.ts'],
          environment: 'node',
          testTimeout: 240_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
