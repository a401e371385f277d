import { request } from 'node:http';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { startProgram } from '../support/spawn-charon.ts';
import { tempFolder } from '../support/temp-home.ts';

// Every host is a process of its own here, and the machine may be busy.
vi.setConfig({ testTimeout: 90_000 });

const readySchema = z.object({ ready: z.literal(true), lethe: z.string(), pid: z.int() });

async function serveSessions(home: string, flags: readonly string[] = ['--mode', 'hybrid']) {
  const args = ['serve', '--home', home, '--http', '127.0.0.1:0', '--json', ...flags];
  const program = startProgram('lethe', args, { env: { LETHE_MODE: 'legacy' } });
  const { lethe } = readySchema.parse(JSON.parse(await program.until(/\n/)));
  const ask = async (path: string, body?: unknown): Promise<unknown> => {
    const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    return (await fetch(`${lethe}${path}`, sent)).json();
  };
  /** Sends something and does not wait for what becomes of it. */
  const tell = (path: string, body: unknown): void => {
    const sent = request(`${lethe}${path}`, { method: 'POST' });
    sent.on('error', () => {});
    sent.end(JSON.stringify(body));
  };
  return { ask, tell, stop: program.stop };
}

const eventsSchema = z.object({ events: z.array(z.object({ event_id: z.string(), content: z.string() })) });
const eventSchema = z.object({ event_id: z.string() });
const sessionSchema = z.object({ session_id: z.string(), status: z.string() });

test('T93 what was answered survives a killed process, event by event', async () => {
  const home = join(tempFolder(), 'home');
  const said: string[] = [];
  for (let run = 0; run < 3; run += 1) {
    const served = await serveSessions(home);
    const { session_id: id } = sessionSchema.parse(
      await served.ask('/sessions', { agent_id: 'a', project_id: 'demo', session_key: 'key' }),
    );
    for (let count = 0; count < 15; count += 1) {
      const recorded = eventSchema.parse(await served.ask(`/sessions/${id}/events`, { content: `event ${count}` }));
      said.push(recorded.event_id);
    }
    for (const content of ['one', 'two', 'three']) served.tell('/events', { project_id: 'demo', content });
    expect(await served.stop('SIGKILL')).toBeNull();
  }
  const served = await serveSessions(home);
  const { events } = eventsSchema.parse(await served.ask('/sessions/key/events?limit=200'));
  expect(events.map(({ event_id }) => event_id)).toEqual(said.toReversed());
  expect(await served.ask('/memory/projects')).toEqual({ projects: [] });
});

test('T92 a signal interrupts the sessions that are active; a flag stands before the environment', async () => {
  const home = join(tempFolder(), 'home');
  const served = await serveSessions(home);
  await served.ask('/sessions', { agent_id: 'a', project_id: 'demo', session_key: 'key' });
  expect(await served.ask('/health')).toEqual({ mode: 'hybrid', status: 'ok' });
  expect(await served.stop('SIGTERM')).toBe(0);
  const again = await serveSessions(home, ['--assembly-retention-days', '-1']);
  expect(await again.ask('/health')).toEqual({ mode: 'legacy', status: 'ok' });
  expect(sessionSchema.parse(await again.ask('/sessions/key')).status).toBe('interrupted');
  expect(await again.stop('SIGTERM')).toBe(0);
});
