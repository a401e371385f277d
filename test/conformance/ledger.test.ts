import { describe, expect, test } from 'vitest';
import { ledgerValueBytesMax } from '../../src-preload/contract/ledger.ts';
import { openLedgerDoor, type Seen } from './ledger-door.ts';

/** Status and code of a refusal, which has this door's form. */
function refused(seen: Seen): readonly [number, string] {
  expect(seen.value).toMatchObject({ status: 'error', error_code: expect.any(String), message: expect.any(String) });
  const { fix } = seen.value;
  if (fix !== undefined) expect(seen.value.message).toContain(fix);
  return [seen.status, seen.value.error_code];
}

const none = { ops: 0, bytes: 0, live_keys: 0, ledger_rows: 0, ledger_bytes: 0 };

describe('keys and values', () => {
  test('T130 a put is answered with every field, echoes derived_from only when it was sent, and counts on', async () => {
    const door = await openLedgerDoor();
    const agent = await door.agent('one');
    const at = '2026-11-30T12:00:00Z';
    const first = await agent.put('/memory/k', { value: { a: [1, null] }, ttl: 60, source: 'unit', confidence: 0.5 });
    expect([first.status, first.value]).toEqual([
      200,
      {
        status: 'success',
        key: 'k',
        version: 1,
        importance: 'normal',
        source: 'unit',
        confidence: 0.5,
        ttl: 60,
        expires_at: '2026-11-30T12:01:00Z',
        size_bytes: 14,
        created_at: at,
        updated_at: at,
        usage: { ops: 1, bytes: 14, live_keys: 1, ledger_rows: 1, ledger_bytes: 14 },
      },
    ]);
    door.clock.advance(1_000);
    const derived = { start_version: 1, end_version: 9 };
    const second = await agent.put('/memory/k', { value: null, importance: 'critical', derived_from: derived });
    expect(second.value).toMatchObject({
      version: 2,
      ttl: null,
      expires_at: null,
      derived_from: derived,
      created_at: at,
    });
    const read = await agent.get('/memory/k');
    expect(read.value).toMatchObject({ status: 'success', value: null, version: 2, derived_from: derived });
    expect(read.value.updated_at).toBe('2026-11-30T12:00:01Z');
  });

  test('T130 a tombstone takes a version; what is absent is 404 and nothing is written', async () => {
    const agent = await (await openLedgerDoor()).agent('one');
    await agent.put('/memory/k', { value: 1 });
    expect((await agent.del('/memory/k')).value).toMatchObject({
      status: 'success',
      key: 'k',
      deleted: true,
      version: 2,
    });
    for (const again of [await agent.del('/memory/k'), await agent.get('/memory/k'), await agent.get('/memory/never')])
      expect(refused(again)).toEqual([404, 'MEMORY_KEY_NOT_FOUND']);
    const back = await agent.put('/memory/k', { value: 2 });
    expect([back.value.version, back.value.usage.ledger_rows]).toEqual([3, 3]);
  });

  test('T130 a value whose time is over is absent everywhere', async () => {
    const door = await openLedgerDoor();
    const agent = await door.agent('one');
    await agent.put('/memory/short', { value: 'soon gone', ttl: 5 });
    door.clock.advance(5_000);
    expect(refused(await agent.get('/memory/short'))).toEqual([404, 'MEMORY_KEY_NOT_FOUND']);
    expect((await agent.get('/memory')).value).toMatchObject({ entries: [], total: 0 });
    expect((await agent.get('/memory/search?q=soon+gone&threshold=0')).value.results).toEqual([]);
    expect((await agent.get('/memory/context')).value.entries).toEqual([]);
  });

  test('T131 a key is one segment of 1 to 128 characters, decoded once', async () => {
    const agent = await (await openLedgerDoor()).agent('one');
    const longest = 'k'.repeat(128);
    for (const key of ['ns.a%3Ab-c_d', 'a:b', longest, '__proto__', 'constructor', '...'])
      expect((await agent.put(`/memory/${key}`, { value: key })).status).toBe(200);
    expect((await agent.get('/memory/ns.a%3Ab-c_d')).value.key).toBe('ns.a:b-c_d');
    expect((await agent.get('/memory/__proto__')).value.value).toBe('__proto__');
    const wrong = ['', '.', '..', `${longest}k`, 'a%2Fb', 'a/b', 'a/', 'a%20b', '%zz', '%C3%28', 'é', 'a%253Ab', '%00'];
    for (const key of wrong) {
      const path = `/memory/${key === 'é' ? '%C3%A9' : key}`;
      expect([key, ...refused(await agent.get(path))]).toEqual([key, 422, 'MEMORY_KEY_INVALID']);
      expect(refused(await agent.put(path, { value: 1 }))).toEqual([422, 'MEMORY_KEY_INVALID']);
      expect(refused(await agent.del(path))).toEqual([422, 'MEMORY_KEY_INVALID']);
    }
  });

  test('T131 context, search and stats are routes to GET and keys otherwise, with a warning', async () => {
    const agent = await (await openLedgerDoor()).agent('one');
    for (const key of ['context', 'search', 'stats']) {
      expect((await agent.put(`/memory/${key}`, { value: key })).value.warning).toContain(`GET /v1/memory/${key}`);
    }
    expect((await agent.get('/memory')).value.entries.map(({ key }: { key: string }) => key)).toEqual([
      'context',
      'search',
      'stats',
    ]);
    expect((await agent.get('/memory/stats')).value.tier).toBe('local');
    expect((await agent.del('/memory/stats')).value.deleted).toBe(true);
    expect((await agent.put('/memory/other', { value: 1 })).value.warning).toBeUndefined();
  });

  test('T132 a body is JSON of any keys; what is wrong with it is 422 and names every field', async () => {
    const agent = await (await openLedgerDoor()).agent('one');
    const text = '{"value":{"__proto__":{"polluted":1},"constructor":{"prototype":2},"toJSON":"x"}}';
    expect((await agent.put('/memory/odd', text)).status).toBe(200);
    expect((await agent.get('/memory/odd')).body).toContain('"value":{"__proto__":{"polluted":1},"constructor"');
    const wrong: readonly (readonly [unknown, readonly string[]])[] = [
      [{}, ['value']],
      [{ value: 1, ttl: 0, importance: 'urgent' }, ['ttl', 'importance']],
      [{ value: 1, ttl: 1.5, confidence: 2, source: 'x'.repeat(256) }, ['ttl', 'source', 'confidence']],
      [{ value: 1, derived_from: { start_version: 2, end_version: 1 } }, ['derived_from']],
      [{ value: 1, derived_from: { start_version: 0, end_version: 1 } }, ['derived_from.start_version']],
      [{ value: 1, derived_from: { start_version: 1 } }, ['derived_from.end_version']],
      [{ value: 1, access_policy: 'public' }, ['access_policy']],
      [{ value: 1, is_commons: true }, ['is_commons']],
      [{ value: 1, key: 'other' }, ['key']],
      [{ value: 1, if_version: 1 }, ['if_version']],
      ['[1]', ['']],
      ['{"value":', ['']],
      ['', ['']],
    ];
    for (const [body, fields] of wrong) {
      const seen = await agent.put('/memory/k', body);
      expect([body, ...refused(seen)]).toEqual([body, 422, 'VALIDATION_ERROR']);
      expect(seen.value.fields.map(({ field }: { field: string }) => field)).toEqual(fields);
    }
    expect((await agent.put('/memory/k', {})).value.message).toBe('value: is missing; send it');
    expect((await agent.put('/memory/k', { value: 1, is_commons: true })).value.fix).toContain('Leave the field out');
    expect((await agent.get('/memory/stats')).value.ledger_rows).toBe(1);
  });

  test('T132 a value of 524 288 bytes is taken however it is escaped, a byte more is 413, and so are 4 MiB of body', async () => {
    const agent = await (await openLedgerDoor()).agent('one');
    const most = 'x'.repeat(ledgerValueBytesMax - 2);
    const escaped = `{"value":"${'\\u0078'.repeat(most.length)}"}`;
    expect(escaped.length).toBeGreaterThan(3_000_000);
    expect((await agent.put('/memory/k', escaped)).value.size_bytes).toBe(ledgerValueBytesMax);
    expect(refused(await agent.put('/memory/k', { value: `${most}x` }))).toEqual([413, 'MEMORY_VALUE_TOO_LARGE']);
    const tooMuch = Buffer.alloc(4 * 1_048_576 + 1, ' ');
    expect(refused(await agent.put('/memory/k', tooMuch))).toEqual([413, 'MEMORY_VALUE_TOO_LARGE']);
    expect((await agent.get('/memory/k')).value.version).toBe(1);
  });

  test('T133 If-Match names the version that must be live, for a put and a delete', async () => {
    const agent = await (await openLedgerDoor()).agent('one');
    await agent.put('/memory/k', { value: 1 });
    expect((await agent.put('/memory/k', { value: 2 }, { 'if-match': '"1"' })).value.version).toBe(2);
    const stale = await agent.put('/memory/k', { value: 3 }, { 'if-match': '"1"' });
    expect(refused(stale)).toEqual([409, 'MEMORY_LEDGER_VERSION_CONFLICT']);
    expect(refused(await agent.del('/memory/k', { 'if-match': '1' }))).toEqual([409, 'MEMORY_LEDGER_VERSION_CONFLICT']);
    for (const header of ['*', '"0"', 'abc', '"1", "2"'])
      expect(refused(await agent.put('/memory/k', { value: 3 }, { 'if-match': header }))).toEqual([
        422,
        'VALIDATION_ERROR',
      ]);
    expect((await agent.del('/memory/k', { 'if-match': '2' })).value.version).toBe(3);
  });

  test('T133 of eight writers at once each gets a version of its own', async () => {
    const door = await openLedgerDoor();
    const agent = await door.agent('one');
    const versions = await Promise.all(
      Array.from({ length: 8 }, async (_, writer) => {
        const own: number[] = [];
        for (let count = 0; count < 10; count += 1)
          own.push((await agent.put('/memory/k', { value: [writer, count] })).value.version);
        return own;
      }),
    );
    expect(versions.flat().sort((one, other) => one - other)).toEqual(Array.from({ length: 80 }, (_, at) => at + 1));
  });
});

describe('what an agent asks over all of its keys', () => {
  test('T134 a list has pages, prefix and one importance, and no values', async () => {
    const agent = await (await openLedgerDoor()).agent('one');
    expect((await agent.get('/memory')).value).toEqual({
      ...{ status: 'success', entries: [], page: 1, per_page: 50, total: 0 },
      usage: none,
    });
    for (const key of ['a:1', 'a:2', 'a:3', 'b:1'])
      await agent.put(`/memory/${key}`, { value: key, importance: key === 'a:2' ? 'high' : 'low' });
    const keys = async (query: string) => {
      const { value } = await agent.get(`/memory?${query}`);
      return [value.entries.map(({ key }: { key: string }) => key), value.total];
    };
    expect(await keys('per_page=2')).toEqual([['a:1', 'a:2'], 4]);
    expect(await keys('per_page=2&page=2')).toEqual([['a:3', 'b:1'], 4]);
    expect(await keys('prefix=a%3A&per_page=1&page=3')).toEqual([['a:3'], 3]);
    expect(await keys('importance=high')).toEqual([['a:2'], 1]);
    expect((await agent.get('/memory')).body).not.toContain('"value"');
    for (const query of ['page=0', 'per_page=101', 'per_page=x', 'importance=urgent', 'page=1&page=2', 'pages=1'])
      expect(refused(await agent.get(`/memory?${query}`))).toEqual([422, 'VALIDATION_ERROR']);
  });

  test('T134 context comes by importance, then newest, then key, from a floor up', async () => {
    const door = await openLedgerDoor();
    const agent = await door.agent('one');
    for (const [key, importance] of [
      ['old', 'normal'],
      ['b', 'critical'],
      ['low', 'low'],
    ]) {
      await agent.put(`/memory/${key}`, { value: key, importance });
    }
    door.clock.advance(1_000);
    await agent.put('/memory/new-b', { value: 1 });
    await agent.put('/memory/new-a', { value: 1 });
    const keys = async (query: string): Promise<unknown> =>
      (await agent.get(`/memory/context?${query}`)).value.entries.map(({ key }: { key: string }) => key);
    expect(await keys('')).toEqual(['b', 'new-a', 'new-b', 'old', 'low']);
    expect(await keys('importance=normal&limit=3')).toEqual(['b', 'new-a', 'new-b']);
    for (const query of ['limit=0', 'limit=51']) expect((await agent.get(`/memory/context?${query}`)).status).toBe(422);
  });

  test('T134 search finds by words of any language, says how alike, and wants something to look for', async () => {
    const agent = await (await openLedgerDoor()).agent('one');
    await agent.put('/memory/coffee', { value: { text: 'the owner drinks espresso in the morning' } });
    await agent.put('/memory/city', { value: '東京に住んでいます' });
    const found = await agent.get('/memory/search?q=espresso+in+the+morning');
    expect(found.value).toMatchObject({ query: 'espresso in the morning', count: 1, provider_used: 'local' });
    expect(found.value.results[0]).toMatchObject({ key: 'coffee', version: 1 });
    expect(found.value.results[0].similarity).toBeGreaterThanOrEqual(0.7);
    expect((await agent.get(`/memory/search?q=${encodeURIComponent('東京')}`)).value.results[0].key).toBe('city');
    expect((await agent.get('/memory/search?q=zebra&threshold=0.7')).value).toMatchObject({ results: [], count: 0 });
    for (const query of ['q=++', 'q=', '']) {
      expect(refused(await agent.get(`/memory/search?${query}`))).toEqual([422, 'MEMORY_QUERY_REQUIRED']);
    }
    for (const query of [`q=${'x'.repeat(501)}`, 'q=a&limit=21', 'q=a&threshold=1.1', 'q=a&threshold=x'])
      expect(refused(await agent.get(`/memory/search?${query}`))).toEqual([422, 'VALIDATION_ERROR']);
  });

  test('T134 stats say what there is and that nothing limits it', async () => {
    const agent = await (await openLedgerDoor()).agent('one');
    await agent.put('/memory/a', { value: 'xx' });
    await agent.put('/memory/a', { value: 'x' });
    const usage = { ops: 2, bytes: 3, live_keys: 1, ledger_rows: 2, ledger_bytes: 7 };
    const { value } = await agent.get('/memory/stats');
    expect(value).toEqual({
      ...{ status: 'success', ...usage, limits: null, tier: 'local', over_limit: false },
      usage,
    });
  });

  test('T134 each agent has its own keys', async () => {
    const door = await openLedgerDoor();
    const [one, other] = [await door.agent('one'), await door.agent('other')];
    await one.put('/memory/k', { value: 'mine' });
    expect(refused(await other.get('/memory/k'))).toEqual([404, 'MEMORY_KEY_NOT_FOUND']);
    expect((await other.get('/memory')).value.total).toBe(0);
    expect((await other.get('/memory/search?q=mine&threshold=0')).value.count).toBe(0);
    expect((await other.put('/memory/k', { value: 'theirs' })).value.version).toBe(1);
    expect((await one.get('/memory/k')).value.value).toBe('mine');
  });
});

describe('places and methods', () => {
  test('T135 two slashes before v1 are one, unknown paths are 404, and a known one says which methods it has', async () => {
    const door = await openLedgerDoor();
    const agent = await door.agent('one');
    expect((await door.ask(agent.token, 'PUT', '//v1/memory/k', { value: 1 })).status).toBe(200);
    for (const path of ['/v1', '/v1/', '/v1/nothing', '/v1/me/', '/v1/agents/x', '/v1/memory-x'])
      expect([path, ...refused(await door.ask(agent.token, 'GET', path))]).toEqual([path, 404, 'NOT_FOUND']);
    for (const path of ['/v1/memory/k', '/v1/memory']) {
      const seen = await door.ask(agent.token, 'POST', path, { value: 1 });
      expect(refused(seen)).toEqual([405, 'METHOD_NOT_ALLOWED']);
      expect(seen.value.message).toMatch(/PUT.*GET/);
    }
    expect((await door.ask(agent.token, 'PATCH', '/v1/memory/k')).headers.allow).toBe('PUT, GET, DELETE');
    for (const method of ['HEAD', 'OPTIONS']) {
      expect((await door.ask(agent.token, method, '/v1/memory/k')).status).toBe(405);
    }
    expect((await door.ask(agent.token, 'GET', '/v2/memory')).value.code).toBe('STATE_NOT_FOUND');
  });

  test('T135 what is stopped before the ledger is refused in its form too', async () => {
    const door = await openLedgerDoor();
    const { token } = await door.agent('one');
    const asked = (headers: Record<string, string>, method = 'PUT') =>
      door.ask(token, method, '/v1/memory/k', '{"value":1}', headers);
    expect(refused(await asked({ host: 'evil.example' }))).toEqual([403, 'HOST_REFUSED']);
    expect(refused(await asked({ origin: 'http://evil.example' }))).toEqual([403, 'ORIGIN_REFUSED']);
    expect(refused(await asked({ 'sec-fetch-site': 'cross-site' }))).toEqual([403, 'ORIGIN_REFUSED']);
    expect(refused(await asked({ 'content-type': 'text/plain' }))).toEqual([415, 'VALIDATION_ERROR']);
    expect((await asked({ 'sec-fetch-mode': 'cors' })).status).toBe(200);
  });

  test('T136 capabilities are there for everybody, also with a bad token', async () => {
    const door = await openLedgerDoor();
    for (const token of ['', 'ltx_bad']) {
      const { status, value } = await door.ask(token, 'GET', '/v1/capabilities');
      expect(status).toBe(200);
      expect(value.memory_ledger).toMatchObject({
        ...{ append_only: true, reads: 'latest-live', version_scope: 'per-key', tombstone_delete: true },
        ...{ public_version_list: false, billing: 'latest-live bytes', max_value_bytes: 524_288 },
        derived_from: { verified: false },
      });
      expect(value.memory_ledger.error_codes).toContain('MEMORY_KEY_INVALID');
      expect(value.consolidation_policy).toMatchObject({
        template_ids: ['consolidation-v1'],
        amend_signature_scheme: 'lithtrix.consolidation.amend.v1',
        engine: 'none',
      });
      expect(value.consolidation_policy.canonical_lines).toHaveLength(7);
      expect(value.consolidation_policy.request_schema.required).toEqual(['template_id', 'params']);
    }
  });
});
