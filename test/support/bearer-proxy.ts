import { createServer, request } from 'node:http';
import { assert } from '../../src-main/base/assert.ts';

/** A proxy on a loopback port of its own. */
export interface BearerProxy {
  /** The same path as at the door. */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Hands every request on to a door as it came, with a bearer added: for test suites that know no credentials. `Host` and
 * `Origin` pass unchanged but for the proxy's own address, which becomes the door's: what is foreign stays foreign.
 */
export async function openBearerProxy(door: { readonly url: string; readonly token: string }): Promise<BearerProxy> {
  const target = new URL(door.url);
  const server = createServer((incoming, answer) => {
    const own = `:${portOf(server.address())}`;
    const headers = { ...incoming.headers, authorization: `Bearer ${door.token}` };
    for (const name of ['host', 'origin'] as const) {
      if (headers[name]?.endsWith(own) === true)
        headers[name] = `${headers[name].slice(0, -own.length)}:${target.port}`;
    }
    const passed = request(
      { host: target.hostname, port: target.port, path: incoming.url, method: incoming.method, headers, agent: false },
      (answered) => {
        answer.writeHead(answered.statusCode ?? 502, answered.headers);
        answered.pipe(answer);
      },
    );
    passed.on('error', () => answer.destroy());
    answer.on('close', () => passed.destroy());
    incoming.pipe(passed);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    url: `http://127.0.0.1:${portOf(server.address())}${target.pathname}`,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}

function portOf(address: ReturnType<ReturnType<typeof createServer>['address']>): number {
  assert(typeof address === 'object' && address !== null, 'a listening proxy has an address');
  return address.port;
}
