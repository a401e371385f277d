import { useSyncExternalStore } from 'react';
import { formatRoute, parseRoute, type Route } from './routes.ts';

/** Goes to a place; back returns from it. */
export function goTo(route: Route): void {
  window.location.hash = formatRoute(route);
}

/** The place that the address names, live. */
export function useRoute(): Route {
  const hash = useSyncExternalStore(watchHash, () => window.location.hash);
  return parseRoute(hash);
}

function watchHash(listener: () => void): () => void {
  window.addEventListener('hashchange', listener);
  return () => window.removeEventListener('hashchange', listener);
}
