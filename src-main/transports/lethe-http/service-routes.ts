import { toFault } from '../../base/fault.ts';
import { json, plainText, refusal } from './answer.ts';
import type { Route, RouteDeps } from './route.ts';

/** The one mode that is served: the Memory Git routes. */
export const mode = 'git';

/** Service routes (`lethe.md` §1.1). */
export function serviceRoutes({ lethe, metrics }: RouteDeps): readonly Route[] {
  return [
    { method: 'GET', pattern: '/health', answer: () => json({ mode, status: 'ok' }) },
    {
      method: 'GET',
      pattern: '/readyz',
      answer: () => {
        try {
          lethe.listProjects();
          return json({ mode, status: 'ready' });
        } catch (thrown) {
          if (toFault(thrown).kind !== 'unavailable') throw thrown;
          return refusal(503, 'store unavailable');
        }
      },
    },
    {
      method: 'GET',
      pattern: '/metrics',
      answer: async () => plainText(200, 'text/plain; version=0.0.4', await metrics.text()),
    },
    // These are counts of the session API; the store in this mode holds nothing of it.
    {
      method: 'GET',
      pattern: '/stats',
      answer: () => json({ sessions: 0, events: 0, checkpoints: 0, flags: 0, threads: 0 }),
    },
  ];
}
