import { expect, test } from 'vitest';
import { sha256Hex } from '../../src-main/canonical/digest.ts';
import { restoreProof, verifyRestoreProof } from '../../src-main/canonical/restore-proof.ts';
import { hmacSha256Hex } from '../../src-main/canonical/signature.ts';

const key = Buffer.from('0123456789abcdef0123456789abcdef');
const other = Buffer.from('fedcba9876543210fedcba9876543210');
const bytes = Buffer.from('{"ops":[]}');

test('K18 a proof holds for its bytes under its key', () => {
  for (const id of ['k1', '', 'a.b-c_d']) {
    const proof = restoreProof({ id, key }, bytes);
    expect(proof).toBe(`${id}:${hmacSha256Hex(key, `charon/restore/v1\n${sha256Hex(bytes)}`)}`);
    expect(verifyRestoreProof(new Map([[id, key]]), proof, bytes)).toBe(true);
    expect(verifyRestoreProof(new Map([[id, other]]), proof, bytes)).toBe(false);
    expect(verifyRestoreProof(new Map([['k2', key]]), proof, bytes)).toBe(false);
    expect(verifyRestoreProof(new Map([[id, key]]), proof, Buffer.from('{"ops":[] }'))).toBe(false);
  }
});

test('K18 what is no proof is false and never an error', () => {
  const keys = new Map([['k1', key]]);
  const proof = restoreProof({ id: 'k1', key }, bytes);
  for (const text of ['', ':', 'k1', 'k1:', 'k1:zz', `${proof}0`, proof.slice(0, -1), `x${proof}`, proof.slice(3)])
    expect(verifyRestoreProof(keys, text, bytes)).toBe(false);
});
