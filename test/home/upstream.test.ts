import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Fault } from '../../src-main/base/fault.ts';
import { readUpstream } from '../../src-main/home/upstream.ts';
import { tempFolder } from '../support/temp-home.ts';

function refusal(env: Record<string, string>): Fault {
  try {
    readUpstream(env);
  } catch (thrown) {
    if (thrown instanceof Fault) return thrown;
  }
  throw new Error('it was not refused');
}

test('H15 an upstream is HTTPS, a socket, or this machine', () => {
  expect(readUpstream({})).toBeUndefined();
  expect(readUpstream({ CHARON_UPSTREAM: ' ' })).toBeUndefined();
  for (const [text, origin, basePath] of [
    ['https://memory.example', 'https://memory.example', ''],
    ['https://memory.example:8443/lethe/api/', 'https://memory.example:8443', '/lethe'],
    ['http://127.0.0.1:18485', 'http://127.0.0.1:18485', ''],
    [' http://127.8.9.1:1/api ', 'http://127.8.9.1:1', ''],
    ['http://localhost:18485/api', 'http://localhost:18485', ''],
    ['http://[::1]:18485', 'http://[::1]:18485', ''],
  ] as const) {
    expect(readUpstream({ CHARON_UPSTREAM: text })?.address).toEqual({ kind: 'url', origin, basePath });
  }
  expect(readUpstream({ CHARON_UPSTREAM: 'unix:/run/lethe.sock' })).toEqual({
    address: { kind: 'socket', path: '/run/lethe.sock' },
    key: undefined,
  });
});

test.each([
  'http://memory.example',
  'http://10.0.0.1:18485',
  'http://0.0.0.0:18485',
  'http://127.0.0.1.secret.example',
  'http://localhost.secret.example',
  'http://[::ffff:10.0.0.1]',
  'http://127.0.0.1@secret.example',
  'https://user:secret@memory.example',
  'https://memory.example/?secret',
  'https://memory.example/#secret',
  'ftp://secret.example',
  'file:///secret',
  'secret',
  '127.0.0.1:18485',
  'unix:secret.sock',
  'unix:',
  'https://',
])('H15 another upstream is refused by its name, unrepeated: %s', (text) => {
  const fault = refusal({ CHARON_UPSTREAM: text, LETHE_API_KEY: 'lethe_secret' });
  expect([fault.code, fault.data]).toEqual(['HOME_INVALID', { variable: 'CHARON_UPSTREAM' }]);
  expect(fault.message).toContain('CHARON_UPSTREAM');
  expect(JSON.stringify(fault.toWire())).not.toMatch(/secret|example/);
});

test('H16 the key is that of the environment, else of a file that is closed to others', () => {
  const at = { CHARON_UPSTREAM: 'https://memory.example' };
  const file = join(tempFolder(), 'key');
  writeFileSync(file, 'lethe_of_the_file\n', { mode: 0o600 });
  expect(readUpstream({ ...at, CHARON_UPSTREAM_KEY_FILE: file })?.key).toBe('lethe_of_the_file');
  expect(readUpstream({ ...at, CHARON_UPSTREAM_KEY_FILE: file, LETHE_API_KEY: ' lethe_given ' })?.key).toBe(
    'lethe_given',
  );
  const refused = (env: Record<string, string>): void => {
    const fault = refusal({ ...at, ...env });
    expect(fault.code).toBe('KEYS_INVALID');
    expect(fault.message).toMatch(/^(?:LETHE_API_KEY|CHARON_UPSTREAM_KEY_FILE): /);
    expect(fault.message).not.toMatch(/secret|lethe_of_the_file/);
    expect(fault.message).not.toContain(file);
  };
  refused({ LETHE_API_KEY: 'two secrets' });
  refused({ CHARON_UPSTREAM_KEY_FILE: join(tempFolder(), 'none') });
  refused({ CHARON_UPSTREAM_KEY_FILE: tempFolder() });
  chmodSync(file, 0o640);
  refused({ CHARON_UPSTREAM_KEY_FILE: file });
  writeFileSync(file, '\n');
  chmodSync(file, 0o600);
  refused({ CHARON_UPSTREAM_KEY_FILE: file });
});
