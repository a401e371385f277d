import { expect, onTestFinished } from 'vitest';
import { silentLog } from '../../src-main/base/log.ts';
import type { CommandCall } from '../../src-main/commands/api.ts';
import { type AgentDoorLimits, openAgentDoor, type Readiness } from '../../src-main/transports/agent-door.ts';
import { type RawAnswer, send } from './raw-http.ts';
import { fakeClock, gate, stage } from './stage.ts';

/** Messages as clients send them. */
export const listTools = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';
export const subscription = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'subscriptions/listen',
  params: {
    notifications: { toolsListChanged: true },
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'listener', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  },
});
export const jsonHeaders = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
export const callStatus =
  '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_status","arguments":{"project":"demo"}}}';

/** Opens an agent door over a stage and a gate; closed when the test is over. Token 1 is good. */
export async function openStagedDoor(
  settings: {
    limits?: Partial<AgentDoorLimits>;
    answer?: (call: CommandCall) => unknown;
    ready?: () => Promise<Readiness>;
  } = {},
) {
  const commands = stage(settings.answer);
  const guard = gate();
  const clock = fakeClock();
  const door = await openAgentDoor({
    port: 0,
    commands,
    charon: guard,
    clock,
    log: silentLog,
    version: '0.1.0',
    ready: settings.ready ?? (async () => ({ ok: true, problems: [] })),
    limits: settings.limits,
  });
  onTestFinished(() => door.close());
  const host = `127.0.0.1:${door.port}`;
  const good = guard.admit(1);
  const ask = (headers: Record<string, string | string[]>, body: string | Buffer = listTools): Promise<RawAnswer> =>
    send({
      port: door.port,
      method: 'POST',
      path: '/mcp',
      headers: { host, 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
      body,
    });
  return { door, commands, guard, clock, host, good, bearer: { authorization: `Bearer ${good}` }, ask };
}

/** Refused means: the status, the fault's code, none of the door's data, no CORS header. */
export function expectRefused(answer: RawAnswer, status: number, code: string): void {
  expect({ status: answer.status, code: JSON.parse(answer.body).code }).toEqual({ status, code });
  expect(answer.body).not.toContain('memory_status');
  expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
}
