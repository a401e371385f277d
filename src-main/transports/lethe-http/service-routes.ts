import { toFault } from '../../base/fault.ts';
import { json, plainText, refusal } from './answer.ts';
import type { Route, RouteDeps } from './route.ts';

/** Service routes (`lethe.md` §1.1). */
export function serviceRoutes({ lethe, metrics, mode }: RouteDeps): readonly Route[] {
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
    {
      method: 'GET',
      pattern: '/stats',
      answer: () => json({ ...lethe.countSessionRows() }),
    },
  ];
}
