import { LedgerRefusedError, LedgerUnreachableError, NotALedgerError } from './errors.ts';

/** Where the ledger is, and as whom it is asked. */
export interface LedgerDoorOptions {
  /** Of the agent door: `http://127.0.0.1:18484`. A path after it is not used. */
  readonly url: string;
  /** A key of the ledger (`ltx_…`), or a token (`obol_…`) whose agent may use it. */
  readonly token: string;
  /** How long one request may take until its answer is whole, in milliseconds; 10 seconds when left out. */
  readonly timeoutMs?: number | undefined;
}

/** What a ledger key holds. Times are those of the first put since it was last absent, and of the latest. */
export interface Entry {
  readonly key: string;
  readonly value: unknown;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface Match extends Entry {
  /** 0 to 1. */
  readonly similarity: number;
}

/** The routes of the ledger that a store needs. All throw LedgerRefusedError, LedgerUnreachableError, NotALedgerError. */
export interface LedgerDoor {
  find(key: string): Promise<Entry | undefined>;
  /** `ttlSeconds` undefined: until it is deleted. */
  put(key: string, value: unknown, ttlSeconds: number | undefined): Promise<void>;
  /** What is not there is deleted already. */
  delete(key: string): Promise<void>;
  /**
   * Keys that begin with a prefix, in their order, a page a request. Written to meanwhile, it may miss a key that was there
   * all along (a key before it was deleted), and answers none twice.
   */
  list(prefix: string): AsyncGenerator<string>;
  /** The 20 entries of all that answer a query best, best first; none for a query in which nothing is visible. */
  search(query: string): Promise<readonly Match[]>;
}

const timeoutMsDefault = 10_000;
const perPageMax = 100;
const matchesMax = 20;

type Method = 'GET' | 'PUT' | 'DELETE';
type Fields = Readonly<Record<string, unknown>>;

/** Opens the way to a ledger. Nothing is sent before the first question, and nothing is ever sent twice. */
export function openLedgerDoor(options: LedgerDoorOptions): LedgerDoor {
  const ask = (method: Method, path: string, body?: Fields): Promise<Fields> => request(options, method, path, body);
  return {
    find: async (key) => {
      const answer = await unlessRefused(ask('GET', pathOf(key)), 'MEMORY_KEY_NOT_FOUND');
      return answer === undefined ? undefined : toEntry(answer);
    },
    put: async (key, value, ttlSeconds) => {
      await ask('PUT', pathOf(key), ttlSeconds === undefined ? { value } : { value, ttl: ttlSeconds });
    },
    delete: async (key) => {
      await unlessRefused(ask('DELETE', pathOf(key)), 'MEMORY_KEY_NOT_FOUND');
    },
    list: (prefix) => listKeys(ask, prefix),
    search: async (query) => {
      const parameters = new URLSearchParams({ q: query, limit: String(matchesMax), threshold: '0' });
      const answer = await unlessRefused(ask('GET', `/v1/memory/search?${parameters}`), 'MEMORY_QUERY_REQUIRED');
      return answer === undefined ? [] : readList(answer, 'results').map(toMatch);
    },
  };
}

async function* listKeys(ask: (method: Method, path: string) => Promise<Fields>, prefix: string) {
  let last = '';
  for (let page = 1; ; page += 1) {
    const parameters = new URLSearchParams({ page: String(page), per_page: String(perPageMax), prefix });
    const entries = readList(await ask('GET', `/v1/memory?${parameters}`), 'entries');
    for (const entry of entries) {
      const key = readText(entry, 'key');
      if (key <= last) continue;
      last = key;
      yield key;
    }
    if (entries.length < perPageMax) return;
  }
}

function pathOf(key: string): string {
  return `/v1/memory/${encodeURIComponent(key)}`;
}

async function request(options: LedgerDoorOptions, method: Method, path: string, body?: Fields): Promise<Fields> {
  const { url, token, timeoutMs = timeoutMsDefault } = options;
  const init: RequestInit = {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  };
  if (body !== undefined) init.body = JSON.stringify(body);
  const target = new URL(path, url);
  let response: Response;
  let text: string;
  try {
    response = await fetch(target, init);
    text = await response.text();
  } catch (error) {
    throw unreachable(error, method, timeoutMs);
  }
  const answer = parseFields(text);
  if (response.ok && answer?.status === 'success') return answer;
  if (answer === undefined || typeof answer.error_code !== 'string' || typeof answer.message !== 'string')
    throw new NotALedgerError(
      `What answered with status ${response.status} is no memory ledger. Give the address of the agent door as url.`,
    );
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
  throw new LedgerRefusedError(
    answer.message,
    answer.error_code,
    response.status,
    Number.isFinite(retryAfter) ? retryAfter : undefined,
  );
}

function unreachable(error: unknown, method: Method, timeoutMs: number): LedgerUnreachableError {
  const isLate = error instanceof Error && error.name === 'TimeoutError';
  const mayHaveHappened = method !== 'GET' && !isNeverConnected(error);
  const what = isLate ? `The ledger did not answer within ${timeoutMs} ms.` : 'The ledger could not be reached.';
  const then = mayHaveHappened
    ? 'The write was carried out or was not: get the item before you write again.'
    : 'Is Memory Git running, and is url its agent door?';
  return new LedgerUnreachableError(`${what} ${then}`, isLate ? 'timeout' : 'connection', mayHaveHappened, error);
}

/** Whether nobody listened, so that nothing can have been sent. */
function isNeverConnected(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return isFields(cause) && cause.code === 'ECONNREFUSED';
}

async function unlessRefused(answer: Promise<Fields>, code: string): Promise<Fields | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof LedgerRefusedError && error.code === code) return undefined;
    throw error;
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parseFields(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isFields(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function readText(fields: Fields, name: string): string {
  const value = fields[name];
  if (typeof value !== 'string') throw new NotALedgerError(`The answer has no text ${name}: it is no memory ledger's.`);
  return value;
}

function readList(fields: Fields, name: string): readonly Fields[] {
  const value = fields[name];
  if (!Array.isArray(value) || !value.every(isFields))
    throw new NotALedgerError(`The answer has no list ${name}: it is no memory ledger's.`);
  return value;
}

function readTime(fields: Fields, name: string): Date {
  const time = new Date(readText(fields, name));
  if (Number.isNaN(time.getTime()))
    throw new NotALedgerError(`The answer has no time ${name}: it is no memory ledger's.`);
  return time;
}

function toEntry(fields: Fields): Entry {
  return {
    key: readText(fields, 'key'),
    value: fields.value,
    createdAt: readTime(fields, 'created_at'),
    updatedAt: readTime(fields, 'updated_at'),
  };
}

function toMatch(fields: Fields): Match {
  const { similarity } = fields;
  if (typeof similarity !== 'number')
    throw new NotALedgerError("The answer has no similarity: it is no memory ledger's.");
  return { ...toEntry(fields), similarity };
}
