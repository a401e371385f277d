import { describe, expect, test } from 'vitest';
import {
  createBackgroundVerifier,
  createSigner,
  createVerifier,
  headMoveBytes,
  hmacSha256Hex,
  type MergeEnvelope,
  signMergeEnvelope,
  verifyHmacSha256Hex,
  verifyMergeEnvelope,
} from '../../src-main/canonical/signature.ts';

describe('HMAC-SHA256', () => {
  test('K13 the second vector of RFC 4231', () => {
    const expected = '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843';
    const key = Buffer.from('Jefe');
    expect(hmacSha256Hex(key, 'what do ya want for nothing?')).toBe(expected);
    expect(verifyHmacSha256Hex(key, 'what do ya want for nothing?', expected.toUpperCase())).toBe(true);
  });

  test('K14 another key, another text and every malformed signature are false and never throw', () => {
    const key = Buffer.from('k'.repeat(32));
    const good = hmacSha256Hex(key, 'text');
    expect(verifyHmacSha256Hex(key, 'text', good)).toBe(true);
    expect(verifyHmacSha256Hex(Buffer.from('j'.repeat(32)), 'text', good)).toBe(false);
    expect(verifyHmacSha256Hex(key, 'Text', good)).toBe(false);
    for (const bad of ['', 'zz', good.slice(1), `${good}00`, `${good}\n`, 'g'.repeat(64), '０'.repeat(64)]) {
      expect(verifyHmacSha256Hex(key, 'text', bad), bad).toBe(false);
    }
  });
});

describe('merge envelopes', () => {
  const key = Buffer.from('0123456789abcdef0123456789abcdef');
  const envelope: MergeEnvelope = {
    version: 'memory-git-merge/v2',
    project_id: 'demo',
    ref_name: 'refs/shared/main',
    expected_head: 'head-1',
    new_head: 'head-2',
    proposal_id: 'proposal-1',
    proposal_digest: 'a'.repeat(64),
    reviewer_principal: 'reviewer',
    merger_principal: 'merger',
    strategy: 'fast_forward',
    issued_at: '2026-01-02T03:04:05.000000006Z',
    expires_at: '2026-01-02T03:06:05Z',
    nonce: '0123456789abcdef0123456789abcdef',
    key_id: 'v1',
  };

  test('K15 a change of any of the fourteen fields breaks the signature', () => {
    const signature = signMergeEnvelope(key, envelope);
    const names = Object.keys(envelope);
    expect(names).toHaveLength(14);
    for (const name of names) {
      expect(verifyMergeEnvelope(key, { ...envelope, [name]: 'other' }, signature), name).toBe(false);
    }
    expect(verifyMergeEnvelope(key, envelope, signature)).toBe(true);
  });

  test('K15 moving text from one field to the next breaks the signature', () => {
    const signature = signMergeEnvelope(key, envelope);
    expect(verifyMergeEnvelope(key, { ...envelope, project_id: 'demorefs/', ref_name: 'shared/main' }, signature)).toBe(
      false,
    );
  });

  test('K15 fields that are not of the envelope are not signed', () => {
    const wider = { ...envelope, note: 'not signed' };
    expect(signMergeEnvelope(key, wider)).toBe(signMergeEnvelope(key, envelope));
  });
});

describe('Ed25519', () => {
  const seed = Buffer.from('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60', 'hex');
  const publicHex = 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a';

  test('K13 the first vector of RFC 8032', () => {
    const signer = createSigner(seed);
    expect(Buffer.from(signer.publicKey, 'base64url').toString('hex')).toBe(publicHex);
    const signature = Buffer.from(signer.sign(''), 'base64url').toString('hex');
    expect(signature).toBe(
      'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
    );
  });

  test('K15 a signed move of a ref verifies, and no changed column does', () => {
    const signer = createSigner(seed);
    const verify = createVerifier(signer.publicKey);
    const move = {
      seq: 3,
      project_id: 'demo',
      ref_name: 'refs/shared/main',
      from_head: '',
      to_head: 'h',
      moved_at: '2026-01-01T00:00:00Z',
      principal: 'p',
      cause: 'create',
      chain_digest: 'd',
    };
    expect(headMoveBytes(move)).toBe(
      'lethe/head/v1\n{"cause":"create","chain_digest":"d","from_head":"","moved_at":"2026-01-01T00:00:00Z","principal":"p","project_id":"demo","ref_name":"refs/shared/main","seq":3,"to_head":"h"}',
    );
    const signature = signer.sign(headMoveBytes(move));
    expect(verify?.(headMoveBytes(move), signature)).toBe(true);
    for (const name of Object.keys(move)) {
      const changed = { ...move, [name]: name === 'seq' ? 4 : 'other' };
      expect(verify?.(headMoveBytes(changed), signature), name).toBe(false);
    }
  });

  test('K14 a verifier in the background answers what the other one does', async () => {
    const signer = createSigner(seed);
    const verify = createBackgroundVerifier(signer.publicKey);
    const signature = signer.sign('text');
    expect(await verify?.('text', signature)).toBe(true);
    for (const [text, bad] of [
      ['other', signature],
      ['text', ''],
      ['text', `${signature}=`],
      ['text', createSigner(Buffer.alloc(32, 1)).sign('text')],
    ] as const)
      expect(await verify?.(text, bad), bad).toBe(false);
    expect(createBackgroundVerifier('short')).toBe(undefined);
  });

  test('K14 a malformed key is undefined; a malformed or foreign signature is false', () => {
    const signer = createSigner(seed);
    const verify = createVerifier(signer.publicKey);
    const signature = signer.sign('text');
    expect(verify?.('text', signature)).toBe(true);
    for (const bad of [
      '',
      '!',
      signature.slice(0, -2),
      `${signature}=`,
      ` ${signature}`,
      createSigner(Buffer.alloc(32, 1)).sign('text'),
    ]) {
      expect(verify?.('text', bad), bad).toBe(false);
    }
    for (const bad of ['', 'short', `${signer.publicKey}A`, `${signer.publicKey}=`])
      expect(createVerifier(bad), bad).toBe(undefined);
    expect(() => createSigner(Buffer.alloc(31))).toThrow();
  });
});
