import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type App, openApp } from '../../src-main/app.ts';
import { type Clock, systemClock } from '../../src-main/base/clock.ts';
import { systemIds } from '../../src-main/base/ids.ts';
import { silentLog } from '../../src-main/base/log.ts';
import type { CommandInput, CommandName, CommandOutput } from '../../src-preload/contract/commands/table.ts';
import { dayMs } from '../../src-preload/contract/limits.ts';
import { type ClientKind, clientKinds, connectClient } from '../support/mcp-clients.ts';
import { tempFolder } from '../support/temp-home.ts';
import { type RawAnswer, send } from './raw-http.ts';
import { eventually } from './stage.ts';

/** The real engine on a new home, with a clock that can be moved on. */
async function openEngine() {
  let aheadMs = 0;
  const clock: Clock = { nowMs: () => systemClock.nowMs() + aheadMs };
  const app = await openApp({
    home: join(tempFolder(), 'home'),
    env: {},
    doors: { agentPort: 0, ownerPageDir: null },
    version: '0.1.0',
    clock,
    ids: systemIds(),
    log: silentLog,
  });
  onTestFinished(() => app.close());
  const url = app.doors.mcp ?? '';
  const owner = <Name extends CommandName>(name: Name, input: CommandInput<Name>): Promise<CommandOutput<Name>> =>
    app.commands.call(name, input, app.ownerCaller('owner_socket'));
  const agent = async (name: string) => {
    const { principal } = await owner('principal.reconcile', { name, profile: 'propose', project: 'demo' });
    const minted = await owner('obol.mint', { principal_id: principal.principal_id });
    return { principal, token: minted.token, obolId: minted.obol.obol_id };
  };
  const client = async (kind: ClientKind, token: string, name?: string) => {
    const connected = await connectClient(kind, { url, token }, name);
    onTestFinished(() => connected.close());
    await connected.listTools();
    return connected;
  };
  const advance = (ms: number): void => {
    aheadMs += ms;
  };
  return { app, url, owner, agent, client, advance };
}

function askAs(app: App, token: string): Promise<RawAnswer> {
  const { host, port } = new URL(app.doors.mcp ?? '');
  return send({
    port: Number(port),
    method: 'POST',
    path: '/mcp',
    headers: {
      host,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${token}`,
    },
    body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
  });
}

describe('real credentials at the real door', () => {
  test('T10 expired, revoked, disabled, of another home and made up: one and the same 401, all in the ledger', async () => {
    const engine = await openEngine();
    const elsewhere = await openEngine();
    const [expired, revoked, disabled] = [
      await engine.agent('expired'),
      await engine.agent('revoked'),
      await engine.agent('disabled'),
    ];
    const foreign = await elsewhere.agent('foreign');
    await engine.owner('obol.revoke', { obol_id: revoked.obolId });
    await engine.owner('principal.set_enabled', { principal_id: disabled.principal.principal_id, enabled: false });
    expect((await askAs(engine.app, expired.token)).status).toBe(200);
    expect((await askAs(elsewhere.app, foreign.token)).status).toBe(200);
    engine.advance(8 * dayMs);

    const made = `${expired.token.slice(0, -1)}${expired.token.endsWith('A') ? 'B' : 'A'}`;
    const answers: RawAnswer[] = [];
    for (const token of [expired.token, revoked.token, disabled.token, foreign.token, made])
      answers.push(await askAs(engine.app, token));
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401]);
    expect(new Set(answers.map(({ body, headers }) => body + headers['www-authenticate'])).size).toBe(1);
    await eventually(async () => {
      const { entries } = await engine.owner('audit.tail', { limit: 50 });
      const refused = entries.filter(({ command }) => command === 'authenticate');
      expect(refused.map(({ credential_id }) => credential_id).sort()).toEqual(
        [expired, revoked, disabled, foreign, expired].map(({ obolId }) => obolId).sort(),
      );
      expect(new Set(refused.map(({ outcome }) => outcome))).toEqual(new Set(['denied UNAUTHENTICATED']));
    });
    expect((await engine.owner('audit.verify', {})).ok).toBe(true);
  });

  test.each(clientKinds)('T17 a client of kind %s loses its rights with the next call', async (kind) => {
    const { agent, client, owner } = await openEngine();
    const { token, obolId, principal } = await agent('worker');
    const connected = await client(kind, token);
    expect((await connected.call('memory_repo_init', { project: 'demo' })).isError).toBe(false);
    await owner('principal.revoke_grant', { principal_id: principal.principal_id, project: 'demo' });
    const ungranted = await connected.call('memory_status', { project: 'demo' });
    expect([ungranted.isError, ungranted.structured.code]).toEqual([true, 'GRANT_MISSING']);
    await owner('obol.revoke', { obol_id: obolId });
    await expect(connected.call('memory_status', { project: 'demo' })).rejects.toThrow();
  });
});

describe('the real pipeline behind the door', () => {
  test.each(clientKinds)(
    'T20 T21 T22 T29 a client of kind %s works with memory and is known by its name',
    async (kind) => {
      const { agent, client, owner } = await openEngine();
      const { token, obolId, principal } = await agent('worker');
      const connected = await client(kind, token, 'editor');
      const begun = await connected.call('memory_repo_init', { project: 'demo' });
      expect(begun.structured).toMatchObject({ ref: { ref_name: 'refs/shared/main' } });
      const status = await connected.call('memory_status', { project: 'demo' });
      expect(status.structured).toMatchObject({
        principal_id: principal.principal_id,
        profile: 'propose',
        recovery_readonly: false,
      });
      expect(JSON.parse(status.text)).toEqual(status.structured);
      await eventually(async () => {
        const { obols } = await owner('obol.list', {});
        expect(obols.find(({ obol_id }) => obol_id === obolId)?.last_client).toBe('editor 1.2.3');
      });
    },
  );

  test.each(clientKinds)(
    'T27 what a client of kind %s gets wrong is refused by name and stands in the ledger',
    async (kind) => {
      const { agent, client, owner } = await openEngine();
      const connected = await client(kind, (await agent('worker')).token);
      const answers = [
        await connected.call('memory_repo_init', { project: 'demo', colour: 'blue' }),
        await connected.call('memory_merge', {
          proposal_id: '00000000-0000-7000-8000-000000000000',
          idempotency_key: 'k',
        }),
        await connected.call('memory_forget', {}),
        await connected.call('memory.status', { project: 'demo' }),
        await connected.call('principal_list', {}),
      ];
      expect(answers.map(({ isError, structured }) => [isError, structured.code])).toEqual([
        [true, 'INPUT_INVALID'],
        [true, 'SCOPE_MISSING'],
        [true, 'COMMAND_UNKNOWN'],
        [true, 'COMMAND_UNKNOWN'],
        [true, 'COMMAND_UNKNOWN'],
      ]);
      expect(answers[0]?.text).toContain('colour');
      await eventually(async () => {
        const { entries } = await owner('audit.tail', { limit: 50 });
        const seen = entries
          .filter(({ door }) => door === 'agent')
          .map(({ command, outcome }) => `${command}: ${outcome}`);
        expect(seen.reverse()).toEqual([
          'memory.repo_init: invalid INPUT_INVALID',
          'memory.merge: denied SCOPE_MISSING',
          'memory_forget: invalid COMMAND_UNKNOWN',
          'tool:memory.status: invalid COMMAND_UNKNOWN',
          'principal_list: invalid COMMAND_UNKNOWN',
        ]);
      });
    },
  );
});
