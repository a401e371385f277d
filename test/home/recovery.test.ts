import { expect, test } from 'vitest';
import { toTimestamp } from '../../src-main/base/clock.ts';
import { systemIds } from '../../src-main/base/ids.ts';
import type { KeysFile } from '../../src-main/home/keys-file.ts';
import {
  makeRecoveryLock,
  openRecoveryEnvelope,
  parseRecoveryEnvelope,
  sealKeysForRecovery,
} from '../../src-main/home/recovery.ts';
import type { RecoveryEnvelope } from '../../src-preload/contract/recovery.ts';
import { refusal } from '../support/refusal.ts';

const ids = systemIds();
const cheap = { n: 2 ** 10, r: 8, p: 1 };
const passphrase = 'correct horse battery';
const homeId = '5c1f7a52-6f0e-4c50-9a3a-1f0f4f3f9d11';
const otherHome = '0f9ad0a1-37ab-4d0c-8c65-0a2d8b1f5e22';

const secret = (): string => ids.randomBytes(32).toString('base64url');
const plain: KeysFile = {
  ...{ version: 1, obol: secret(), oauth: secret(), merges: [{ id: 'merge-1', secret: secret() }] },
  ...{ ledger: { id: 'ledger-1', secret: secret() }, head: { id: 'head-1', seed: secret() } },
};

/** The keys with a recovery passphrase set in them. */
async function locked(): Promise<KeysFile> {
  return { ...plain, recovery: await makeRecoveryLock(passphrase, ids, toTimestamp(0), cheap) };
}

function seal(file: KeysFile): RecoveryEnvelope {
  const envelope = sealKeysForRecovery(file, homeId, ids);
  if (envelope === undefined) throw new Error('a passphrase was set');
  return envelope;
}

test('H40 what is sealed opens with the passphrase, is another text every time and holds no key', async () => {
  const file = await locked();
  const envelope = seal(file);
  expect(await openRecoveryEnvelope(envelope, passphrase)).toEqual(file);
  const again = seal(file);
  for (const field of ['ephemeral_key', 'nonce', 'sealed'] as const) expect(again[field]).not.toBe(envelope[field]);
  expect(await openRecoveryEnvelope(parseRecoveryEnvelope(JSON.stringify(again)), passphrase, homeId)).toEqual(file);
  const text = JSON.stringify(envelope);
  for (const key of [plain.obol, plain.oauth, plain.ledger.secret, plain.head.seed, file.recovery?.sealing_key])
    expect(text).not.toContain(key);
  expect(sealKeysForRecovery(plain, homeId, ids)).toBeUndefined();
});

test('H40 keys that were replaced since are sealed under the same passphrase, which stands nowhere', async () => {
  const file = await locked();
  const rotated: KeysFile = { ...file, obol: secret() };
  const opened = await openRecoveryEnvelope(seal(rotated), passphrase, homeId);
  expect(opened).toEqual(rotated);
  // From what was put back the next envelope is sealed in turn.
  expect(await openRecoveryEnvelope(seal(opened), passphrase)).toEqual(rotated);
  expect(JSON.stringify([rotated, seal(rotated)])).not.toContain(passphrase);
});

test('H41 another passphrase and another home are refused, and neither key nor passphrase is said', async () => {
  const envelope = seal(await locked());
  const wrong = await refusal(() => openRecoveryEnvelope(envelope, 'correct horse batterY'));
  expect(wrong).toMatchObject({ code: 'KEYS_INVALID', data: { field: 'passphrase' } });
  expect(`${wrong.message} ${wrong.stack}`).not.toMatch(/horse|[A-Za-z0-9_-]{22}/);
  expect(await refusal(() => openRecoveryEnvelope(envelope, passphrase, otherHome))).toMatchObject({
    code: 'KEYS_INVALID',
    data: { field: 'home_id' },
  });
});

test('H41 a change of any field of an export is refused', async () => {
  const envelope = seal(await locked());
  const { stretch } = envelope;
  const flipped = (text: string): string => (text.startsWith('A') ? 'B' : 'A') + text.slice(1);
  const last = (text: string): string => text.slice(0, -1) + (text.endsWith('A') ? 'B' : 'A');
  const changed: readonly (readonly [string, RecoveryEnvelope])[] = [
    ['sealed', { ...envelope, home_id: otherHome }],
    ['passphrase', { ...envelope, stretch: { ...stretch, n: 2 ** 11 } }],
    ['passphrase', { ...envelope, stretch: { ...stretch, salt: flipped(stretch.salt) } }],
    ['passphrase', { ...envelope, public_key: flipped(envelope.public_key) }],
    ['sealed', { ...envelope, ephemeral_key: flipped(envelope.ephemeral_key) }],
    ['sealed', { ...envelope, ephemeral_key: 'A'.repeat(43) }],
    ['sealed', { ...envelope, nonce: flipped(envelope.nonce) }],
    ['sealed', { ...envelope, sealed: flipped(envelope.sealed) }],
    ['sealed', { ...envelope, sealed: last(envelope.sealed) }],
    ['sealed', { ...envelope, sealed: envelope.sealed.slice(0, 24) }],
    ['stretch', { ...envelope, stretch: { ...stretch, n: 2 ** 21 } }],
    ['stretch', { ...envelope, stretch: { ...stretch, n: 1000 } }],
  ];
  for (const [field, one] of changed)
    expect(await refusal(() => openRecoveryEnvelope(one, passphrase))).toMatchObject({
      code: 'KEYS_INVALID',
      data: { field },
    });
});

test('H41 who knows the public key alone makes no export that opens', async () => {
  const file = await locked();
  const lock = file.recovery;
  if (lock === undefined) throw new Error('a passphrase was set');
  const forged = seal({ ...file, obol: secret(), recovery: { ...lock, sealing_key: secret() } });
  expect(await refusal(() => openRecoveryEnvelope(forged, passphrase))).toMatchObject({ data: { field: 'sealed' } });
});

test.each([
  ['not JSON', '{'],
  ['another thing', '{}'],
  ['a field too many', undefined],
])('H41 a file that is no export is refused: %s', async (_name, text) => {
  const surplus = JSON.stringify({ ...seal(await locked()), extra: 1 });
  expect(await refusal(() => parseRecoveryEnvelope(text ?? surplus))).toMatchObject({ code: 'KEYS_INVALID' });
});
