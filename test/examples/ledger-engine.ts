import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { LedgerStore, type LedgerStoreOptions } from '../../examples/langgraph-store/ledger-store.ts';
import { openApp } from '../../src-main/app.ts';
import { systemClock } from '../../src-main/base/clock.ts';
import { systemIds } from '../../src-main/base/ids.ts';
import { silentLog } from '../../src-main/base/log.ts';
import type { CommandInput, CommandName, CommandOutput } from '../../src-preload/contract/commands/table.ts';
import type { LtxKeyKind } from '../../src-preload/contract/ltx.ts';
import { tempFolder } from '../support/temp-home.ts';

/** One agent of a running engine, with a key of the ledger and a store that uses it. */
export interface LedgerAgent {
  readonly url: string;
  readonly token: string;
  readonly store: LedgerStore;
  /** Another store of the same agent. */
  storeWith(options: Partial<LedgerStoreOptions>): LedgerStore;
  /** A request of another program that has the same key; answers the status. */
  ask(method: 'GET' | 'PUT' | 'DELETE', path: string, body?: unknown): Promise<number>;
}

export interface LedgerEngine {
  /** A new agent without memory. */
  agent(kind?: LtxKeyKind): Promise<LedgerAgent>;
}

/** Opens the real engine with its agent door on a home of its own; closed when the test is over. */
export async function openLedgerEngine(): Promise<LedgerEngine> {
  const app = await openApp({
    home: join(tempFolder(), 'home'),
    env: {},
    doors: { agentPort: 0, ownerPageDir: null },
    version: '0.1.0',
    clock: systemClock,
    ids: systemIds(),
    log: silentLog,
  });
  onTestFinished(() => app.close());
  const url = app.doors.ledger;
  if (url === null) throw new Error('the agent door is open');
  const owner = <Name extends CommandName>(name: Name, input: CommandInput<Name>): Promise<CommandOutput<Name>> =>
    app.commands.call(name, input, app.ownerCaller('owner_socket'));
  let agents = 0;
  return {
    agent: async (kind = 'root') => {
      agents += 1;
      const name = `agent ${agents}`;
      const { principal } = await owner('principal.reconcile', { name, profile: 'propose', project: 'demo' });
      const { token } = await owner('ltx.mint', { agent: principal.principal_id, kind });
      const storeWith = (options: Partial<LedgerStoreOptions>): LedgerStore =>
        new LedgerStore({ url, token, ...options });
      return { url, token, store: storeWith({}), storeWith, ask: askAs(url, token) };
    },
  };
}

function askAs(url: string, token: string): LedgerAgent['ask'] {
  return async (method, path, body) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const init: RequestInit = { method, headers };
    if (body !== undefined) init.body = JSON.stringify(body);
    return (await fetch(new URL(path, url), init)).status;
  };
}
