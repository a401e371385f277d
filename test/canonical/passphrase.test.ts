import { expect, test } from 'vitest';
import {
  hashPassphrase,
  isPassphraseLongEnough,
  isScryptCost,
  passphraseCost,
  stretchPassphrase,
  verifyPassphrase,
} from '../../src-main/canonical/passphrase.ts';

const cheap = { n: 2 ** 10, r: 8, p: 1 };
const salt = Buffer.from('0123456789abcdef');

test('K19 the published vector of scrypt is reproduced', async () => {
  // RFC 7914 §12, the third one.
  const key = await stretchPassphrase('pleaseletmein', Buffer.from('SodiumChloride'), { n: 16_384, r: 8, p: 1 }, 64);
  expect(key.toString('hex')).toBe(
    '7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887',
  );
});

test('K19 a passphrase verifies against its own hash alone, at the cost that we pay', async () => {
  const stored = await hashPassphrase('correct horse battery', salt);
  expect(stored).toMatch(/^scrypt\$131072\$8\$1\$[\w-]{22}\$[\w-]{43}$/);
  expect(await verifyPassphrase('correct horse battery', stored)).toBe(true);
  const cheaper = await hashPassphrase('correct horse battery', salt, cheap);
  expect(await verifyPassphrase('correct horse battery', cheaper)).toBe(true);
  expect(await verifyPassphrase('correct horse batterY', cheaper)).toBe(false);
  expect(await verifyPassphrase('', cheaper)).toBe(false);
  const salted = await hashPassphrase('correct horse battery', Buffer.from('fedcba9876543210'), cheap);
  expect(salted.split('$').at(-1)).not.toBe(cheaper.split('$').at(-1));
});

test('K19 a passphrase is the same in whatever Unicode form it is typed', async () => {
  const stored = await hashPassphrase('cafe\u0301 de l\u2019opéra', salt, cheap);
  expect(await verifyPassphrase('café de l\u2019ope\u0301ra', stored)).toBe(true);
  expect(await verifyPassphrase('cafe de l\u2019opera', stored)).toBe(false);
});

test('K19 a damaged hash, or one whose cost is out of bounds, is false and never an error', async () => {
  const stored = await hashPassphrase('correct horse battery', salt, cheap);
  const [, , , , saltText = '', hash = ''] = stored.split('$');
  const of = (n: string, r: string, p: string) => ['scrypt', n, r, p, saltText, hash].join('$');
  const damaged = [
    '',
    'scrypt',
    stored.slice(0, -1),
    `${stored}A`,
    stored.replace('scrypt', 'bcrypt'),
    of('1000', '8', '1'),
    of('512', '8', '1'),
    of('1048576', '8', '1'),
    of('2097152', '1', '1'),
    of('1024', '0', '1'),
    of('1024', '33', '1'),
    of('1024', '8', '5'),
  ];
  for (const text of damaged) expect(await verifyPassphrase('correct horse battery', text)).toBe(false);
  expect(isScryptCost(passphraseCost)).toBe(true);
  expect(isScryptCost({ n: 1024.5, r: 8, p: 1 })).toBe(false);
});

test('K19 a passphrase that is set has 12 to 1 024 characters', () => {
  expect(isPassphraseLongEnough('eleven char')).toBe(false);
  expect(isPassphraseLongEnough('twelve chars')).toBe(true);
  // Twelve as typed, six as they are compared.
  expect(isPassphraseLongEnough('e\u0301'.repeat(6))).toBe(false);
  expect(isPassphraseLongEnough('🐎'.repeat(12))).toBe(true);
  expect(isPassphraseLongEnough('x'.repeat(1_025))).toBe(false);
});
