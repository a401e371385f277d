import { type Answer, methodNotAllowed, pathNotFound, refusal } from './answer.ts';
import { matchPattern, readPath } from './path.ts';
import type { Asked, Route } from './route.ts';

/** Where a request leads: to a route with what its path and query say, or straight to an answer. */
export type Place =
  | { readonly kind: 'route'; readonly route: Route; readonly asked: Omit<Asked, 'body' | 'proof'> }
  | { readonly kind: 'answer'; readonly answer: Answer };

/**
 * Finds the route of a URL (`lethe.md` §1.0): below `/api` unless it stands at the root, no trailing slash; an unknown path is 404 in plain text and a
 * known one with another method 405 without a body, both without a look at the key.
 */
export function createRouter(routes: readonly Route[]): (method: string, url: string) => Place {
  const table = routes.map((route) => {
    const segments = route.pattern.slice(1).split('/');
    return { route, pattern: route.atRoot === true ? segments : ['api', ...segments] };
  });
  return (method, url) => {
    const [path = '', query = ''] = splitOnce(url, '?');
    const read = readPath(path);
    if (read === undefined) return { kind: 'answer', answer: refusal(400, 'invalid URL escape') };
    let isKnown = false;
    for (const { route, pattern } of table) {
      const params = matchPattern(pattern, read.segments);
      if (params === undefined) continue;
      isKnown = true;
      if (route.method !== method) continue;
      return { kind: 'route', route, asked: { params, raw: read.raw, query: new URLSearchParams(query) } };
    }
    return { kind: 'answer', answer: isKnown ? methodNotAllowed : pathNotFound };
  };
}

function splitOnce(text: string, mark: string): readonly string[] {
  const at = text.indexOf(mark);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}
