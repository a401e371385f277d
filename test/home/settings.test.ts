import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readRecovery, readSwitch, readTuning } from '../../src-main/home/environment.ts';
import { prepareHome } from '../../src-main/home/home.ts';
import { readSettings } from '../../src-main/home/settings.ts';
import { tempHome } from '../support/temp-home.ts';

const refusedHome = expect.objectContaining({ code: 'HOME_INVALID' });

test('H12 missing settings are the defaults, unknown ones are left alone', () => {
  const paths = tempHome();
  prepareHome(paths);
  const defaults = {
    lethe_http: { enabled: false, port: 18_485 },
    ports: { agent: 18_484, owner_page: 0 },
    limits: {
      open_proposals: 200,
      refs: 10_000,
      payload_bytes_per_day: 1_073_741_824,
      pending_registrations: 20,
      free_disk_bytes: 536_870_912,
      failed_per_second: 20,
      calls_per_second: 2_000,
      calls_at_once: 4_000,
      concurrent_requests: 256,
      streams: 64,
    },
    appearance: { theme: 'system' },
    backups: { keep: 10 },
  };
  expect(readSettings(paths)).toEqual(defaults);
  writeFileSync(paths.settings, '{"ports":{"agent":19000},"later":{"x":1}}');
  expect(readSettings(paths)).toEqual({ ...defaults, ports: { agent: 19_000, owner_page: 0 } });
});

test('H20 each limit is set by itself, and one that is none is refused by its name', () => {
  const paths = tempHome();
  prepareHome(paths);
  const defaults = readSettings(paths).limits;
  writeFileSync(paths.settings, '{"limits":{"refs":5,"free_disk_bytes":0}}');
  expect(readSettings(paths).limits).toEqual({ ...defaults, refs: 5, free_disk_bytes: 0 });
  writeFileSync(paths.settings, '{"limits":{"streams":0}}');
  expect(() => readSettings(paths)).toThrow(/limits\.streams/);
});

test.each([
  ['{', /not JSON/],
  ['[]', /the whole file/],
  ['{"ports":{"agent":99999}}', /ports\.agent/],
  ['{"ports":{"agent":"80"}}', /ports\.agent/],
  ['{"appearance":{"theme":"pink"}}', /appearance\.theme/],
])('H12 a damaged settings.json is refused with the field: %s', (text, said) => {
  const paths = tempHome();
  prepareHome(paths);
  writeFileSync(paths.settings, text);
  expect(() => readSettings(paths)).toThrow(said);
  expect(() => readSettings(paths)).toThrow(refusedHome);
});

test('H10 a switch is on or off in any of its words; anything else refuses to start', () => {
  for (const word of ['1', 'true', 'YES', ' on ']) expect(readSwitch({ X: word }, 'X')).toBe(true);
  for (const word of ['', '0', 'False', 'no', 'off', undefined]) expect(readSwitch({ X: word }, 'X')).toBe(false);
  for (const word of ['2', 'maybe', 'ja', '-']) expect(() => readSwitch({ X: word }, 'X')).toThrow(refusedHome);
});

test('H10 either variable is enough, and an unparseable one is never outvoted', () => {
  expect(readRecovery({})).toBe(false);
  expect(readRecovery({ CHARON_RECOVERY_READONLY: 'on' })).toBe(true);
  expect(readRecovery({ LETHE_RECOVERY_READONLY: 'yes' })).toBe(true);
  expect(() => readRecovery({ CHARON_RECOVERY_READONLY: '1', LETHE_RECOVERY_READONLY: 'perhaps' })).toThrow(
    refusedHome,
  );
});

test('H11 waiting and checkpoints can be tuned, durability cannot be weakened', () => {
  expect(readTuning({})).toEqual({ busyTimeoutMs: 5_000, autocheckpointPages: 1_000 });
  expect(
    readTuning({
      LETHE_SQLITE_BUSY_TIMEOUT_MS: '250',
      LETHE_SQLITE_AUTOCHECKPOINT: '64',
      LETHE_SQLITE_SYNCHRONOUS: 'full',
    }),
  ).toEqual({
    busyTimeoutMs: 250,
    autocheckpointPages: 64,
  });
  for (const word of ['NORMAL', 'OFF', '0', 'fastest'])
    expect(() => readTuning({ LETHE_SQLITE_SYNCHRONOUS: word })).toThrow(refusedHome);
  for (const word of ['0', '-1', '1.5', 'x', '99999999999'])
    expect(() => readTuning({ LETHE_SQLITE_BUSY_TIMEOUT_MS: word })).toThrow(refusedHome);
});
