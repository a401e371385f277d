import { Fault } from '../../base/fault.ts';

/** True for a URL of this door: `/v1` and what is below it, with any number of slashes before it (`ledger.md`). */
export function isLedgerUrl(url: string): boolean {
  return /^\/+v1(?:[/?#]|$)/.test(url);
}

/** One place of this door. `names` are its single segments in braces. */
export interface LedgerPlace {
  readonly pattern: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
}

/** Places whose last segment is no key although it stands where one would. */
const plainPatterns: readonly string[] = [
  'capabilities',
  'register',
  'register/{id}',
  'me',
  'keys/rotate',
  'me/consolidation-policy',
  'me/consolidation-policy/amend',
  'auth/passport/challenge',
  'auth/passport/verify',
  'agents/{id}/passport',
  'agents/{id}/consolidation-policy',
  'memory',
];
const memoryRoutes: ReadonlySet<string> = new Set(['stats', 'context', 'search']);

/**
 * Reads a URL of this door as it came: one segment below `memory/` is a key, percent-decoded once; everything else there is
 * a key that cannot be (an empty `key` stands for it). Undefined for a place that there is not.
 * `context`, `search` and `stats` are routes for GET and keys otherwise.
 */
export function readLedgerUrl(method: string, url: string): LedgerPlace | undefined {
  const mark = url.indexOf('?');
  const path = (mark < 0 ? url : url.slice(0, mark)).replace(/^\/+v1\/?/, '');
  const query = new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1));
  if (path.startsWith('memory/')) {
    const name = path.slice('memory/'.length);
    if (method === 'GET' && memoryRoutes.has(name)) return { pattern: `memory/${name}`, params: {}, query };
    return { pattern: 'memory/{key}', params: { key: decodeSegment(name) ?? '' }, query };
  }
  const segments = path.split('/');
  for (const pattern of plainPatterns) {
    const params = matchSegments(pattern.split('/'), segments);
    if (params !== undefined) return { pattern, params, query };
  }
  return undefined;
}

function matchSegments(pattern: readonly string[], segments: readonly string[]): Record<string, string> | undefined {
  if (pattern.length !== segments.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, part] of pattern.entries()) {
    const segment = decodeSegment(segments[index] ?? '');
    if (part === '{id}') {
      if (segment === undefined || segment === '') return undefined;
      params.id = segment;
    } else if (part !== segment) return undefined;
  }
  return params;
}

/** One segment in plain text; undefined for several, and for a percent sign that begins no character. */
function decodeSegment(segment: string): string | undefined {
  if (segment.includes('/')) return undefined;
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

/**
 * The parameters of a query by their names, those of `numbers` as numbers where they are written as such; what is wrong with
 * them is for whoever parses them to say. Throws INPUT_INVALID for one that is there twice.
 */
export function queryFields(query: URLSearchParams, numbers: readonly string[]): Readonly<Record<string, unknown>> {
  const fields: [string, unknown][] = [];
  for (const name of new Set(query.keys())) {
    const values = query.getAll(name);
    if (values.length > 1)
      throw new Fault('INPUT_INVALID', `${name.slice(0, 128)}: is in the query more than once. Send it once.`, {
        field: name.slice(0, 128),
      });
    const [text = ''] = values;
    const isNumber = numbers.includes(name) && /^-?\d{1,15}(?:\.\d{1,15})?$/.test(text);
    fields.push([name, isNumber ? Number(text) : text]);
  }
  return Object.fromEntries(fields);
}
