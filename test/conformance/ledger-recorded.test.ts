import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { sendBytes } from '../transports/raw-http.ts';
import { openLedgerDoor } from './ledger-door.ts';

const recordedSchema = z.array(
  z.strictObject({
    sent: z.string(),
    line: z.string(),
    body: z.string().optional(),
    status: z.int(),
    holds: z.record(z.string(), z.json()),
  }),
);
const recorded = recordedSchema.parse(
  JSON.parse(readFileSync(new URL('../fixtures/ledger/recorded.json', import.meta.url), 'utf8')),
);

/** The bytes of a recorded request as Node's fetch writes them, `Content-Type` on a GET among them. */
function bytesOf(port: number, token: string, line: string, body: string | undefined): string {
  const length = body === undefined ? [] : [`content-length: ${Buffer.byteLength(body)}`];
  return [
    `${line} HTTP/1.1`,
    `host: 127.0.0.1:${port}`,
    'connection: close',
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
    'accept: */*',
    'accept-language: *',
    'sec-fetch-mode: cors',
    'user-agent: node',
    'accept-encoding: gzip, deflate',
    ...length,
    '',
    body ?? '',
  ].join('\r\n');
}

test('T137 what real clients send is answered, byte for byte as it was recorded', async () => {
  const door = await openLedgerDoor();
  const { token } = await door.agent('recorded');
  for (const { sent, line, body, status, holds } of recorded) {
    const answer = await sendBytes(door.port, bytesOf(door.port, token, line, body));
    const [head = '', said = ''] = answer.split(/\r\n\r\n/);
    expect([sent, head.split('\r\n')[0]]).toEqual([sent, expect.stringContaining(` ${status} `)]);
    expect(head.toLowerCase()).toContain('content-type: application/json');
    expect([sent, JSON.parse(said)]).toEqual([sent, expect.objectContaining(holds)]);
  }
});

test('T137 a DELETE and a GET may say that they are JSON and have no body; nothing of it is refused', async () => {
  const door = await openLedgerDoor();
  const { token } = await door.agent('recorded');
  const ask = async (line: string, body?: string): Promise<string> =>
    (await sendBytes(door.port, bytesOf(door.port, token, line, body))).split('\r\n')[0] ?? '';
  expect(await ask('PUT /v1/memory/k', '{"value":1}')).toBe('HTTP/1.1 200 OK');
  expect(await ask('GET /v1/memory/k', '{"ignored":true}')).toBe('HTTP/1.1 200 OK');
  expect(await ask('DELETE /v1/memory/k', '')).toBe('HTTP/1.1 200 OK');
  for (const line of ['GET /v1/memory/..', 'GET /v1/memory/.', 'GET /v1/memory/a/../b', 'GET /v1/memory/%'])
    expect([line, await ask(line)]).toEqual([line, 'HTTP/1.1 422 Unprocessable Entity']);
  expect(await ask('GET //v1/memory')).toBe('HTTP/1.1 200 OK');
  expect(await ask('PROPFIND /v1/memory')).toMatch(/^HTTP\/1\.1 40[45] /);
});
