import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type App, openApp } from '../../src-main/app.ts';
import { systemClock } from '../../src-main/base/clock.ts';
import { systemIds } from '../../src-main/base/ids.ts';
import { silentLog } from '../../src-main/base/log.ts';
import { openStores } from '../../src-main/commands/open-stores.ts';
import { openHome } from '../../src-main/home/open.ts';
import { openAccess } from '../../src-main/shells/cli-access.ts';
import { charonMain } from '../../src-main/shells/cli-charon.ts';
import { askOnTerminal, askTwice, type Terminal } from '../../src-main/shells/cli-confirm.ts';
import { tempFolder } from '../support/temp-home.ts';

// One verb is a process of its own here, and the machine may be busy.
vi.setConfig({ testTimeout: 60_000 });

const passphrase = 'correct horse battery';

/** A home whose acts of power ask for the passphrase, at a price that a test can pay. */
async function setPassphrase(root: string): Promise<void> {
  const [clock, ids] = [systemClock, systemIds()];
  const home = await openHome({ root, env: {}, clock, ids });
  const stores = await openStores({ home, clock, ids, log: silentLog, onEvents: () => undefined });
  await stores.charon.word.setConfirmation('passphrase', passphrase, { n: 1_024, r: 8, p: 1 });
  await stores.close();
  home.release();
}

/** A host with an owner page, in this process. */
async function openHost(folder = tempFolder()): Promise<{ readonly app: App; readonly home: string }> {
  const [home, ownerPageDir] = [join(folder, 'home'), join(folder, 'renderer')];
  mkdirSync(ownerPageDir);
  writeFileSync(join(ownerPageDir, 'index.html'), '<!doctype html><title>desk</title>');
  const app = await openApp({
    ...{ home, env: {}, doors: { agentPort: 0, ownerPageDir }, version: '1.2.3' },
    ...{ clock: systemClock, ids: systemIds(), log: silentLog },
  });
  onTestFinished(() => app.close());
  return { app, home };
}

async function reach(home: string, more: Partial<Parameters<typeof openAccess>[0]> = {}) {
  const access = await openAccess({ home, env: {}, create: false, storeOnly: false, ...more });
  onTestFinished(() => access.close());
  return access;
}

/** Clicks at the desk on the one request that waits. */
async function click(app: App, decision: 'allow' | 'refuse'): Promise<void> {
  const desk = app.ownerCaller('window');
  const { requests } = await app.commands.call('owner_request.list', {}, desk);
  const [request] = requests;
  if (request === undefined) throw new Error('nothing waits');
  await app.commands.call('owner_request.decide', { request_id: request.request_id, decision }, desk);
}

/** Runs a command line in this process; what it prints. */
async function charon(home: string, ...args: readonly string[]) {
  let [stdout, stderr] = ['', ''];
  const out = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    stdout += String(text);
    return true;
  });
  const err = vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    stderr += String(text);
    return true;
  });
  try {
    const code = await charonMain([...args, '--home', home]);
    return { code, stdout, stderr };
  } finally {
    out.mockRestore();
    err.mockRestore();
  }
}

/** A command line as a process without a terminal. */
function start(home: string, ...args: readonly string[]) {
  const script = fileURLToPath(new URL('../../src-main/shells/charon.ts', import.meta.url));
  const env = { PATH: process.env.PATH, HOME: process.env.HOME };
  const child = spawn(process.execPath, [script, ...args, '--home', home], { env, detached: true, stdio: 'pipe' });
  onTestFinished(() => void child.kill('SIGKILL'));
  const heard = new EventEmitter();
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString('utf8');
    heard.emit('more');
  });
  const closed = once(child, 'close');
  return {
    child,
    until: async (pattern: RegExp) => {
      while (!pattern.test(stderr)) await once(heard, 'more');
    },
    end: async () => {
      await closed;
      return { code: child.exitCode, stderr };
    },
  };
}

test('X40 a command line says at once that it waits for the owner, and ends as the owner decides', async () => {
  const { app, home } = await openHost();
  app.commands.attachDesk();
  const desk = (work: () => Promise<void>) => (line: string) => {
    lines.push(line);
    void work();
  };
  const lines: string[] = [];
  const input = { name: 'my agent', profile: 'propose', project: 'demo' } as const;
  const allowed = await reach(home, { onWaiting: desk(() => click(app, 'allow')) });
  expect(await allowed.call('principal.reconcile', input)).toMatchObject({ created: true });
  const refused = await reach(home, { onWaiting: desk(() => click(app, 'refuse')) });
  await expect(refused.call('principal.reconcile', input)).rejects.toMatchObject({ code: 'OWNER_REFUSED' });
  expect(lines).toEqual(Array(2).fill("charon principal reconcile 'my agent' propose demo"));

  const program = start(home, 'principal', 'reconcile', 'another', 'review', 'demo');
  await program.until(/Waiting for the owner's word at the desk: charon principal reconcile another review demo\n/);
  program.child.kill('SIGINT');
  const { code, stderr } = await program.end();
  expect([code, stderr]).toEqual([1, expect.stringMatching(/\ncharon: denied: It was taken back/)]);
  const waiting = app.commands.call('owner_request.list', {}, app.ownerCaller('window'));
  expect(await waiting).toEqual({ requests: [] });

  const closing = await reach(home, { onWaiting: () => void app.close() });
  await expect(closing.call('principal.reconcile', input)).rejects.toMatchObject({ code: 'OWNER_REQUEST_CLOSED' });
});

test('X41 a passphrase is typed on a terminal and nowhere else: through the host and on closed files alike', async () => {
  const folder = tempFolder();
  await setPassphrase(join(folder, 'home'));
  const { app, home } = await openHost(folder);
  const asked: string[] = [];
  const typing = (text: string) => async (question: string) => {
    asked.push(question);
    return text;
  };
  const input = { name: 'my agent', profile: 'propose', project: 'demo' } as const;
  const wrong = await reach(home, { ask: typing('correct horse batterie') });
  await expect(wrong.call('principal.reconcile', input)).rejects.toMatchObject({ code: 'CONFIRMATION_REFUSED' });
  const right = await reach(home, { ask: typing(passphrase) });
  expect(await right.call('principal.list', {})).toMatchObject({ principals: [{ profile: 'owner' }] });
  expect(await right.call('principal.reconcile', input)).toMatchObject({ created: true });
  await app.close();

  const files = await reach(home, { ask: typing(passphrase) });
  expect(await files.call('principal.reconcile', input)).toMatchObject({ created: false });
  await files.close();
  expect(asked).toEqual(Array(3).fill('Passphrase of the owner, to confirm principal.reconcile: '));

  const program = start(home, 'principal', 'reconcile', 'another', 'review', 'demo');
  program.child.stdin.end(`${passphrase}\n`);
  const { code, stderr } = await program.end();
  expect([code, stderr]).toEqual([1, expect.stringMatching(/denied: .* there is no terminal to type it on/)]);
});

/** A terminal at which somebody types these keys. */
function terminal(...keys: readonly string[]) {
  const input = Object.assign(new EventEmitter(), {
    modes: [] as boolean[],
    setRawMode: (on: boolean) => input.modes.push(on),
    setEncoding: () => undefined,
    pause: () => undefined,
    resume: () => {
      for (const key of keys) input.emit('data', key);
    },
  });
  let closed = 0;
  const open = (): Terminal => ({
    input,
    close: () => {
      closed += 1;
    },
  });
  return { open, modes: input.modes, closed: () => closed };
}

test('X41 what is typed is not echoed, can be corrected, and is taken back by Ctrl-C or an empty line', async () => {
  const typed = terminal('wrong\u0015corect\u007f\u007f\u007f', 'rect', ' 日本', '\rmore');
  let unseenAtQuestion: boolean | undefined;
  const said = vi.spyOn(process.stderr, 'write').mockImplementation(() => {
    unseenAtQuestion ??= typed.modes[0];
    return true;
  });
  onTestFinished(() => said.mockRestore());
  expect(await askOnTerminal('Passphrase: ', typed.open)).toBe('correct 日本');
  expect([typed.modes, typed.closed(), unseenAtQuestion]).toEqual([[true, false], 1, true]);
  const stopped = terminal('corr', '\u0003');
  await expect(askOnTerminal('Passphrase: ', stopped.open)).rejects.toMatchObject({ code: 'OWNER_REQUEST_CANCELED' });
  expect([stopped.modes, stopped.closed()]).toEqual([[true, false], 1]);
  const empty = terminal('c\u007f', '\r');
  await expect(askOnTerminal('Passphrase: ', empty.open)).rejects.toMatchObject({ code: 'OWNER_REQUEST_CANCELED' });
  expect([empty.modes, empty.closed()]).toEqual([[true, false], 1]);
  expect(said.mock.calls.flat().join('')).toBe('Passphrase: \n'.repeat(3));
  const answers = ['Grüße', 'Grüße'.normalize('NFD'), 'one', 'two'];
  const next = async (): Promise<string> => answers.shift() ?? '';
  expect(await askTwice(next)).toBe('Grüße');
  await expect(askTwice(next)).rejects.toMatchObject({ code: 'INPUT_INVALID', data: { field: 'passphrase' } });
});

test('X42 charon owner says how acts are confirmed, what waits, what was done, and opens the page', async () => {
  const { app, home } = await openHost();
  const page = await charon(home, 'owner', 'page');
  expect([page.code, page.stdout]).toEqual([0, expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/#code=\S+\n$/)]);
  expect(await charon(home, 'owner', 'confirm')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/ask for nothing/),
  });
  expect(await charon(home, 'owner', 'confirm', 'off', '--json')).toEqual({
    ...{ code: 0, stderr: '' },
    stdout: '{"owner_confirm":"off","passphrase_set":false}\n',
  });
  expect((await charon(home, 'owner', 'confirm', 'maybe')).code).toBe(2);
  const acts = await charon(home, 'owner', 'acts');
  expect(acts.stdout).toMatch(
    /^SEQ +AT +DOOR +COMMAND +CONFIRMED +OUTCOME +ABOUT\n\d+ +\S+ +owner_socket +owner\.set_confirmation +nothing was asked +ok +off\n/,
  );
  const all = JSON.parse((await charon(home, 'owner', 'acts', '--all', '--json')).stdout);
  expect(all.acts.map(({ command }: { command: string }) => command)).toEqual([
    'owner.set_confirmation',
    'owner_page.open',
  ]);

  app.commands.attachDesk();
  const access = await reach(home, { onWaiting: () => undefined });
  const waiting = access.call('setting.set_owner_self_merge', { on: false });
  waiting.catch(() => undefined);
  await vi.waitFor(async () => {
    const listed = await charon(home, 'owner', 'requests');
    expect(listed.stdout).toMatch(/^ID +ASKED +UNTIL +COMMAND\n.* +setting\.set_owner_self_merge '\{"on":false\}'\n$/);
  });
  await click(app, 'refuse');
  await expect(waiting).rejects.toMatchObject({ code: 'OWNER_REFUSED' });
});
