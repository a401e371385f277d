import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { expect, onTestFinished } from 'vitest';
import { Fault } from '../../src-main/base/fault.ts';
import { runMcpBridge } from '../../src-main/transports/mcp-bridge.ts';
import { eventually } from './stage.ts';

export const absent = new Fault('CLOSED', 'nobody is there; start it');

/** A bridge in this process, to wherever `place` points at the moment. */
export function openBridge(place: { port: number | undefined; token: string }) {
  const stdin = new PassThrough();
  const stdout = new PassThrough();
  const said: string[] = [];
  let written = '';
  stdout.on('data', (chunk: Buffer) => {
    written += chunk.toString('utf8');
  });
  const ended = runMcpBridge({
    stdin,
    stdout,
    findDoor: () => ({ port: place.port, instance: '', absent }),
    readToken: () => place.token,
    triesMax: 3,
    tryEveryMs: 20,
    say: (text) => void said.push(text),
  });
  onTestFinished(() => {
    stdin.end();
    return ended;
  });
  const messages = (): readonly Record<string, unknown>[] =>
    written
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  const answerTo = async (id: unknown): Promise<Record<string, unknown>> => {
    await eventually(() => expect(messages().map((message) => message.id)).toContain(id));
    return messages().find((message) => message.id === id) ?? {};
  };
  return {
    stdin,
    said,
    ended,
    messages,
    answerTo,
    send: (message: object | string): void =>
      void stdin.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`),
  };
}

export const list = (id: number): object => ({ jsonrpc: '2.0', id, method: 'tools/list' });
export const call = (id: number, meta?: object): object => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: 'memory_status', arguments: { project: 'demo' }, ...(meta === undefined ? {} : { _meta: meta }) },
});
export const initialize = (id: number): object => ({
  jsonrpc: '2.0',
  id,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'older', version: '3' } },
});
export const cancel = (requestId: number): object => ({
  jsonrpc: '2.0',
  method: 'notifications/cancelled',
  params: { requestId },
});
export const modern = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'modern', version: '7' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** A program that is not Memory Git, or one that behaves as told; every request to it is kept. */
export async function openServer(serve: (request: IncomingMessage, response: ServerResponse) => void) {
  const requests: {
    readonly method: string;
    readonly path: string;
    readonly authorization: string | undefined;
    readonly version: unknown;
  }[] = [];
  const server = createServer((request, response) => {
    const { method = '', url = '', headers } = request;
    const version = headers['mcp-protocol-version'];
    requests.push({ method, path: url, authorization: headers.authorization, version });
    serve(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return { port: typeof address === 'object' ? address?.port : undefined, requests };
}

export const liveness = JSON.stringify({ product: 'memory-git', live: true, nonce: '0'.repeat(32), version: '0.1.0' });
