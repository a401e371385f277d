import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { openApp } from '../../src-main/app.ts';
import { systemClock } from '../../src-main/base/clock.ts';
import { systemIds } from '../../src-main/base/ids.ts';
import { silentLog } from '../../src-main/base/log.ts';
import { openBearerProxy } from '../support/bearer-proxy.ts';
import { tempFolder } from '../support/temp-home.ts';
import { serverScenarios } from './mcp-scenarios.ts';

const page = readFileSync(new URL('../../docs/conformance.md', import.meta.url), 'utf8');
const suitePath = fileURLToPath(
  new URL('../../node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url),
);

/** The whole engine on a new home, and a proxy that knows the token of an agent. */
async function openProxiedDoor(): Promise<string> {
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
  const owner = app.ownerCaller('owner_socket');
  const agent = { name: 'conformance', profile: 'propose', project: 'demo' } as const;
  const { principal } = await app.commands.call('principal.reconcile', agent, owner);
  const { token } = await app.commands.call('obol.mint', { principal_id: principal.principal_id }, owner);
  const proxy = await openBearerProxy({ url: app.doors.mcp ?? '', token });
  onTestFinished(() => proxy.close());
  return proxy.url;
}

/** Runs every server scenario and gives back what the suite printed; it exits with 1 as soon as one does not pass. */
function runSuite(url: string): Promise<string> {
  return new Promise((done) => {
    const options = { cwd: tempFolder(), timeout: 60_000, maxBuffer: 16 * 1_048_576 };
    execFile(process.execPath, [suitePath, 'server', '--url', url, '--suite', 'all'], options, (_error, printed) =>
      done(printed),
    );
  });
}

test('T34 every scenario of the official conformance suite that applies passes', { timeout: 90_000 }, async () => {
  const printed = await runSuite(await openProxiedDoor());
  const results = [...printed.matchAll(/^[✓✗] ([a-z0-9-]+): (\d+) passed, (\d+) failed$/gmu)];
  expect(results.map(([, name]) => name).sort()).toEqual(Object.keys(serverScenarios).sort());
  for (const [line, name = '', passed, failed] of results) {
    const scenario = new Map(Object.entries(serverScenarios)).get(name);
    if (scenario?.applies === true) expect([Number(passed) > 0, failed], line).toEqual([true, '0']);
  }
});

test('T34 the page about conformance names every scenario with its reason', () => {
  for (const [name, { applies, reason }] of Object.entries(serverScenarios))
    expect(page).toContain(`| \`${name}\` | ${applies ? 'passes' : 'does not apply'} | ${reason} |`);
});
