import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { formatToken, parseToken, provesToken, tokenMac } from '../../src-main/charon/rules/token.ts';
import { obolIdSchema } from '../../src-preload/contract/ids.ts';
import { dayMs, obolLifeMaxMs } from '../../src-preload/contract/limits.ts';
import { seededIds } from '../support/history-builder.ts';
import { type CharonWorld, codeOf, makePrincipal, openWorld, seededKey } from './charon-world.ts';

let world: CharonWorld;
beforeEach(async () => {
  world = await openWorld();
});
afterEach(() => world.remove());

async function mint(expiresMs: number | null = null) {
  const principal = await makePrincipal(world, 'agent', 'propose');
  return world.charon.mintObol({ principalId: principal.principal_id, expiresMs });
}

/** Everything that a home's files hold. */
function filesText(): string {
  return [world.path, `${world.path}-wal`].map((path) => readFileSync(path, 'latin1')).join('\n');
}

describe('tokens', () => {
  test('C11 a token is obol_<8 bytes hex>_<32 bytes base64url>, shown once and stored nowhere', async () => {
    const { obol, token } = await mint();
    expect(token).toMatch(/^obol_[0-9a-f]{16}_[A-Za-z0-9_-]{43}$/);
    expect(token.slice(5, 21)).toBe(obol.obol_id);
    expect(JSON.stringify(world.charon.listObols())).not.toContain(token);
    const secret = token.slice(22);
    expect(filesText()).toContain(obol.obol_id);
    expect(filesText()).not.toContain(secret);
    expect(filesText()).toContain(tokenMac(seededKey('obol'), token, obol.audience));
  });

  test('C11 the MAC covers the whole token and the audience', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), fc.string(), fc.string(), (secret, left, right) => {
        const token = formatToken(obolIdSchema.parse('00'.repeat(8)), Buffer.from(secret));
        const key = seededKey('k');
        expect(parseToken(token)).toBe('00'.repeat(8));
        expect(provesToken(key, token, left, tokenMac(key, token, left))).toBe(true);
        expect(provesToken(key, token, left, tokenMac(key, token, right))).toBe(left === right);
        expect(provesToken(seededKey('other'), token, left, tokenMac(key, token, left))).toBe(false);
      }),
    );
  });

  test('C12 the audience is the home, so a token of another home is refused even in a copied database', async () => {
    const { token, obol } = await mint();
    expect(obol.audience).toBe(`urn:memory-git:${world.charon.homeId}`);
    const other = await openWorld({ ids: seededIds('other') });
    try {
      expect(other.charon.homeId).not.toBe(world.charon.homeId);
      expect(other.charon.authenticate(token, 'agent')).toBeUndefined();
      world.withDb((db) =>
        db.exec(
          `ATTACH '${other.path}' AS other; INSERT INTO other.principals SELECT seq + 10, principal_id, name || '2', actor_id, actor_key, profile, enabled, created_at FROM main.principals WHERE profile <> 'owner'; INSERT INTO other.obols SELECT * FROM main.obols;`,
        ),
      );
      expect(other.charon.listObols()).toHaveLength(1);
      expect(other.charon.authenticate(token, 'agent')).toBeUndefined();
      expect(world.charon.authenticate(token, 'agent')?.credential).toEqual({ kind: 'obol', id: obol.obol_id });
    } finally {
      await other.remove();
    }
  });

  test('C13 a life is 1 second to 90 days, or null for never', async () => {
    const principal = await makePrincipal(world, 'agent', 'propose');
    const life = (expiresMs: number | null) =>
      world.charon.mintObol({ principalId: principal.principal_id, expiresMs });
    for (const bad of [0, -1, 999, obolLifeMaxMs + 1, Number.NaN, 1_500.5, Number.POSITIVE_INFINITY]) {
      expect(await codeOf(life(bad)), String(bad)).toBe('INPUT_INVALID');
    }
    expect((await life(null)).obol.expires_at).toBeNull();
    const { token } = await life(1_000);
    const { token: long } = await life(obolLifeMaxMs);
    world.clock.advance(999);
    expect(world.charon.authenticate(token, 'agent')).toBeDefined();
    world.clock.advance(1);
    expect(world.charon.authenticate(token, 'agent')).toBeUndefined();
    world.clock.advance(90 * dayMs - 1_001);
    expect(world.charon.authenticate(long, 'agent')).toBeDefined();
    world.clock.advance(1);
    expect(world.charon.authenticate(long, 'agent')).toBeUndefined();
  });

  test('C14 unknown, malformed, changed, expired, revoked and disabled get the same answer', async () => {
    const { charon } = world;
    const live = await makePrincipal(world, 'live', 'propose');
    const idle = await makePrincipal(world, 'idle', 'propose');
    const good = (await charon.mintObol({ principalId: live.principal_id, expiresMs: null })).token;
    const revoked = await charon.mintObol({ principalId: live.principal_id, expiresMs: null });
    const expired = (await charon.mintObol({ principalId: live.principal_id, expiresMs: 1_000 })).token;
    const disabled = (await charon.mintObol({ principalId: idle.principal_id, expiresMs: null })).token;
    await charon.revokeObol(revoked.obol.obol_id);
    await charon.setPrincipalEnabled(idle.principal_id, false);
    world.clock.advance(1_000);
    const last = good.endsWith('A') ? 'B' : 'A';
    const refused = [
      '',
      'x',
      'Bearer',
      good.slice(0, -1),
      `${good}x`,
      ` ${good}`,
      `${good}\n`,
      good.slice(0, -1) + last,
      good.toUpperCase(),
      `obol_${'0'.repeat(16)}_${'A'.repeat(43)}`,
      revoked.token,
      expired,
      disabled,
      'x'.repeat(100_000),
    ];
    for (const token of refused) expect(charon.authenticate(token, 'agent'), token.slice(0, 80)).toBeUndefined();
    expect(charon.authenticate(good, 'agent')?.principal.principal_id).toBe(live.principal_id);
  });

  test('C15 a revocation takes effect on the next call and stands', async () => {
    const { obol, token } = await mint();
    expect(world.charon.authenticate(token, 'agent')).toBeDefined();
    const first = await world.charon.revokeObol(obol.obol_id);
    expect(world.charon.authenticate(token, 'agent')).toBeUndefined();
    world.clock.advance(5_000);
    expect(await world.charon.revokeObol(obol.obol_id)).toEqual(first);
    expect(() => world.withDb((db) => db.exec('UPDATE obols SET revoked_at = NULL'))).toThrow('revocation');
    expect(() => world.withDb((db) => db.exec('DELETE FROM obols'))).toThrow('stays');
    expect(await codeOf(world.charon.revokeObol(obolIdSchema.parse('f'.repeat(16))))).toBe('OBOL_NOT_FOUND');
  });

  test('C15 a disabled principal gets no new token', async () => {
    const principal = await makePrincipal(world, 'agent', 'propose');
    await world.charon.setPrincipalEnabled(principal.principal_id, false);
    expect(await codeOf(world.charon.mintObol({ principalId: principal.principal_id, expiresMs: null }))).toBe(
      'PRINCIPAL_DISABLED',
    );
    expect(world.charon.listObols(principal.principal_id)).toEqual([]);
  });

  test('C11 a token is found, and those of a principal listed, from an index', () => {
    const plans = world.withDb((db) => [
      db.explain("SELECT * FROM obols WHERE obol_id = 'x'"),
      db.explain("SELECT * FROM obols WHERE principal_id = 'x' ORDER BY seq DESC"),
      db.explain("SELECT * FROM principals WHERE principal_id = 'x'"),
      db.explain("SELECT * FROM principals WHERE profile = 'owner'"),
      db.explain("SELECT * FROM principals WHERE actor_key = 'x'"),
      db.explain("SELECT project FROM grants WHERE principal_id = 'x' ORDER BY project"),
      db.explain("DELETE FROM audit_open_intents WHERE correlation_id = 'x'"),
      db.explain('SELECT seq, entry_hash FROM audit_entries ORDER BY seq DESC LIMIT 1'),
    ]);
    for (const plan of plans) expect(plan.join(), plan.join()).not.toMatch(/TEMP B-TREE|SCAN (?!audit_entries)/);
  });

  test('C16 the last use is kept, at most once a minute, printable and bounded', async () => {
    const { obol } = await mint();
    const use = async (client: string, tool: string) => {
      world.charon.noteUse(obol.obol_id, { client, tool });
      await world.charon.setOwnerSelfMerge(true);
      return world.charon.listObols()[0];
    };
    const first = await use('Claude Code 2.0', 'memory_log');
    expect(first).toMatchObject({
      last_client: 'Claude Code 2.0',
      last_tool: 'memory_log',
      last_used_at: '2026-11-30T12:00:00Z',
    });
    world.clock.advance(59_999);
    expect(await use('other', 'memory_show')).toEqual(first);
    world.clock.advance(1);
    expect(await use(`a\u202eb\u0007${'c'.repeat(500)}`, 'memory_show')).toMatchObject({
      last_client: `ab${'c'.repeat(126)}`,
      last_tool: 'memory_show',
    });
  });

  test('C11 tokens are listed newest first, of one principal or of all', async () => {
    const [a, b] = [await makePrincipal(world, 'a', 'propose'), await makePrincipal(world, 'b', 'review')];
    const ids: string[] = [];
    for (const principal of [a, b, a])
      ids.unshift(
        (await world.charon.mintObol({ principalId: principal.principal_id, expiresMs: dayMs })).obol.obol_id,
      );
    expect(world.charon.listObols().map((obol) => obol.obol_id)).toEqual(ids);
    expect(world.charon.listObols(a.principal_id).map((obol) => obol.obol_id)).toEqual([ids[0], ids[2]]);
  });
});
