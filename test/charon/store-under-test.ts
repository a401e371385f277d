import { silentLog } from '../../src-main/base/log.ts';
import type { MemoryStore } from '../../src-main/commands/memory-store.ts';
import { openLetheClient } from '../../src-main/transports/lethe-client/store.ts';
import { bindDefault } from '../../src-main/transports/lethe-http/access.ts';
import { openLetheHttp } from '../../src-main/transports/lethe-http/server.ts';
import { type TempLethe, testMergeKey } from '../support/history-builder.ts';

/** A store as the policy engine of a test reaches it. */
export interface StoreUnderTest {
  readonly store: MemoryStore;
  close(): Promise<void>;
}

let reach: (temp: TempLethe) => Promise<StoreUnderTest> = async ({ lethe }) => ({
  store: lethe,
  close: async () => undefined,
});

/** The store as the worlds of this test file reach it: in this process, unless `overHttp` was said. */
export function storeUnderTest(temp: TempLethe): Promise<StoreUnderTest> {
  return reach(temp);
}

/** From here on every world of this test file reaches its store over HTTP. */
export function overHttp(): void {
  reach = storeOverHttp;
}

/** A store behind its own HTTP protocol, with a key, on a port of its own. */
export async function storeOverHttp(temp: TempLethe): Promise<StoreUnderTest> {
  const key = 'the-key-of-the-store';
  const http = await openLetheHttp({
    lethe: temp.lethe,
    bind: { ...bindDefault, port: 0 },
    key,
    trust: 'loopback',
    hostNames: [],
    insecureBind: false,
    recovery: false,
    mergeKeys: new Map([['k1', testMergeKey]]),
    log: silentLog,
  });
  const client = openLetheClient({
    upstream: { address: { kind: 'url', origin: `http://127.0.0.1:${http.port}`, basePath: '' }, key },
    mergeKey: { id: 'k1', key: testMergeKey },
    onEvents: () => undefined,
    monotonicMs: () => performance.now(),
  });
  return {
    store: client.store,
    close: async () => {
      client.close();
      await http.close();
    },
  };
}
