import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { describe, expect, onTestFinished, test } from 'vitest';
import { LedgerStore } from '../../examples/langgraph-store/ledger-store.ts';
import { openLedgerEngine } from './ledger-engine.ts';

interface Received {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly authorization: string | undefined;
  readonly body: string;
}

/** A server that is no ledger: it takes requests down and then does as it is told. */
async function openStranger(then: (request: IncomingMessage, response: ServerResponse) => void) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const { method, url } = request;
    received.push({ method, url, authorization: request.headers.authorization, body });
    then(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server listens on a port');
  return { received, url: `http://127.0.0.1:${address.port}` };
}

const token = 'ltx_of_a_test';

describe('refusals of the door', () => {
  test('have its message, code and status', async () => {
    const { storeWith } = await (await openLedgerEngine()).agent();
    await expect(storeWith({ token }).get(['a'], 'k')).rejects.toMatchObject({
      name: 'LedgerRefusedError',
      code: 'INVALID_API_KEY',
      status: 401,
      message: expect.stringMatching(/token|key/i),
    });
  });

  test('a key that only reads puts and deletes nothing', async () => {
    const { store } = await (await openLedgerEngine()).agent('read');
    const refused = { code: 'INSUFFICIENT_KEY_SCOPE', status: 403 };
    await expect(store.put(['a'], 'k', {})).rejects.toMatchObject(refused);
    await expect(store.delete(['a'], 'k')).rejects.toMatchObject(refused);
    expect(await store.get(['a'], 'k')).toBeNull();
  });

  test('a time to live that is none is refused by the door, in its words', async () => {
    const { storeWith } = await (await openLedgerEngine()).agent();
    const put = storeWith({ ttlSeconds: 0 }).put(['a'], 'k', {});
    await expect(put).rejects.toMatchObject({ code: 'VALIDATION_ERROR', message: expect.stringContaining('ttl') });
  });
});

describe('what is sent', () => {
  test('a put is its value and nothing else, with ttl when there is one, and is never sent twice', async () => {
    const { received, url } = await openStranger((request) => request.socket.destroy());
    const lost = { name: 'LedgerUnreachableError', reason: 'connection', mayHaveHappened: true };
    const store = new LedgerStore({ url, token });
    await expect(store.put(['a', 'b'], 'k/é', { n: 1 })).rejects.toMatchObject(lost);
    await expect(new LedgerStore({ url, token, ttlSeconds: 60 }).put(['a'], 'k', {})).rejects.toMatchObject(lost);
    await expect(store.delete(['a'], 'k')).rejects.toMatchObject(lost);
    await expect(store.get(['a'], 'k')).rejects.toMatchObject({ ...lost, mayHaveHappened: false });
    const authorization = `Bearer ${token}`;
    expect(received).toEqual([
      { method: 'PUT', url: '/v1/memory/a%3Ab%3Ak..2f...e9.', authorization, body: '{"value":{"n":1}}' },
      { method: 'PUT', url: '/v1/memory/a%3Ak', authorization, body: '{"value":{},"ttl":60}' },
      { method: 'DELETE', url: '/v1/memory/a%3Ak', authorization, body: '' },
      { method: 'GET', url: '/v1/memory/a%3Ak', authorization, body: '' },
    ]);
  });

  test('the token follows no redirect', async () => {
    const elsewhere = await openStranger((_request, response) => response.end());
    const { url } = await openStranger((_request, response) => {
      response.writeHead(307, { location: elsewhere.url }).end();
    });
    await expect(new LedgerStore({ url, token }).get(['a'], 'k')).rejects.toMatchObject({
      name: 'LedgerUnreachableError',
    });
    expect(elsewhere.received).toEqual([]);
  });
});

describe('failures', () => {
  test('an answer that does not come in time ends the wait, and nothing is sent again', async () => {
    const { received, url } = await openStranger(() => {});
    const store = new LedgerStore({ url, token, timeoutMs: 50 });
    const late = { name: 'LedgerUnreachableError', reason: 'timeout' };
    await expect(store.put(['a'], 'k', {})).rejects.toMatchObject({ ...late, mayHaveHappened: true });
    await expect(store.get(['a'], 'k')).rejects.toMatchObject({ ...late, mayHaveHappened: false });
    expect(received).toHaveLength(2);
  });

  test('an answer that begins and does not end is late too', async () => {
    const { url } = await openStranger((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).write('{"status":');
    });
    const store = new LedgerStore({ url, token, timeoutMs: 50 });
    await expect(store.get(['a'], 'k')).rejects.toMatchObject({ reason: 'timeout' });
  });

  test('where nobody listens nothing was written', async () => {
    const { url } = await openStranger(() => {});
    const { port } = new URL(url);
    const store = new LedgerStore({ url: `http://127.0.0.2:${port}`, token });
    await expect(store.put(['a'], 'k', {})).rejects.toMatchObject({
      name: 'LedgerUnreachableError',
      reason: 'connection',
      mayHaveHappened: false,
    });
  });

  test.each([
    [200, '<html>'],
    [200, '{"status":"success"}'],
    [200, '{"ok":true}'],
    [404, 'Not Found'],
    [404, '{"error":"no such page"}'],
  ])('status %d with %s is no ledger, and no answer', async (status, body) => {
    const { url } = await openStranger((_request, response) => response.writeHead(status).end(body));
    const store = new LedgerStore({ url, token });
    await expect(store.get(['a'], 'k')).rejects.toMatchObject({ name: 'NotALedgerError' });
    await expect(store.search(['a'])).rejects.toMatchObject({ name: 'NotALedgerError' });
  });

  test('a refusal that says when to come again says so', async () => {
    const refusal = JSON.stringify({ status: 'error', error_code: 'RATE_LIMIT_EXCEEDED', message: 'Too fast.' });
    const { url, received } = await openStranger((_request, response) =>
      response.writeHead(429, { 'retry-after': '7' }).end(refusal),
    );
    await expect(new LedgerStore({ url, token }).put(['a'], 'k', {})).rejects.toMatchObject({
      code: 'RATE_LIMIT_EXCEEDED',
      status: 429,
      retryAfterSeconds: 7,
      message: 'Too fast.',
    });
    expect(received).toHaveLength(1);
  });
});
