import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Caller } from '../../src-main/charon/api.ts';
import { scopesOf } from '../../src-main/charon/rules/profiles.ts';
import { principalIdSchema } from '../../src-preload/contract/ids.ts';
import { grantSchema, profileSchema, scopes } from '../../src-preload/contract/principal.ts';
import { projectId, refName } from '../support/history-builder.ts';
import { agent, type CharonWorld, callerOf, codeOf, makePrincipal, openWorld } from './charon-world.ts';

let world: CharonWorld;
beforeEach(async () => {
  world = await openWorld();
});
afterEach(() => world.remove());

const demo = projectId('demo');

describe('home and owner', () => {
  test('C1 first start makes a home id and one owner, and later starts keep both', async () => {
    const { homeId } = world.charon;
    const owner = world.charon.owner();
    expect(homeId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(owner.profile).toBe('owner');
    world = await world.reopen();
    expect(world.charon.homeId).toBe(homeId);
    expect(world.charon.owner()).toEqual(owner);
    expect(world.charon.listPrincipals().filter((principal) => principal.profile === 'owner')).toHaveLength(1);
  });

  test('C1 the home and the identity of a principal cannot be changed in the file', () => {
    const statements = [
      "UPDATE home SET home_id = '00000000-0000-4000-8000-000000000000'",
      'DELETE FROM home',
      "UPDATE principals SET actor_id = 'x', actor_key = 'x'",
      "UPDATE principals SET profile = 'write'",
      'UPDATE principals SET enabled = 0',
      'DELETE FROM principals',
      "INSERT INTO principals (principal_id, name, actor_id, actor_key, profile, enabled, created_at) VALUES ('principal_00000000000000ff', 'two', 'two', 'two', 'owner', 1, '2026-01-01T00:00:00Z')",
    ];
    for (const statement of statements) {
      expect(() => world.withDb((db) => db.exec(statement)), statement).toThrow();
    }
  });

  test('C3 the owner enters through the owner’s doors only, and no token can carry it', async () => {
    const owner = world.charon.owner();
    expect(await codeOf(world.charon.mintObol({ principalId: owner.principal_id, expiresMs: null }))).toBe(
      'OWNER_ONLY',
    );
    expect(() => world.charon.ownerCaller('agent')).toThrow('never enters through the agent door');
    world.charon.requireScope(world.charon.ownerCaller('window'), 'owner');
    for (const profile of ['readonly', 'propose', 'review', 'write'] as const) {
      const caller = await agent(world, profile, profile);
      expect(await codeOf(() => world.charon.requireScope(caller, 'owner'))).toBe('OWNER_ONLY');
    }
    const forged: Caller = { ...world.charon.ownerCaller('window'), door: 'agent' };
    expect(await codeOf(() => world.charon.requireScope(forged, 'owner'))).toBe('OWNER_ONLY');
    expect(await codeOf(world.charon.setPrincipalEnabled(owner.principal_id, false))).toBe('INPUT_INVALID');
  });
});

describe('profiles and grants', () => {
  test('C2 each profile allows exactly the scopes of the table', () => {
    const table = {
      readonly: ['memory.read', 'memory.search', 'ledger.read'],
      propose: [
        'memory.read',
        'memory.search',
        'memory.branch',
        'memory.commit',
        'memory.propose',
        'ledger.read',
        'ledger.write',
      ],
      review: ['memory.read', 'memory.search', 'memory.review', 'memory.merge', 'ledger.read'],
      write: [
        'memory.read',
        'memory.search',
        'memory.branch',
        'memory.commit',
        'memory.propose',
        'memory.write',
        'ledger.read',
        'ledger.write',
      ],
      owner: [...scopes],
    };
    for (const profile of profileSchema.options) expect(scopesOf(profile), profile).toEqual(table[profile]);
  });

  test('C2 a scope that the profile lacks is refused by name', async () => {
    const caller = await agent(world, 'reader', 'readonly');
    world.charon.requireScope(caller, 'memory.read');
    expect(() => world.charon.requireScope(caller, 'memory.commit')).toThrow('memory.commit');
    expect(await codeOf(() => world.charon.requireScope(caller, 'memory.commit'))).toBe('SCOPE_MISSING');
  });

  test('C4 a grant is exact and case-sensitive, a star grants reading only, the owner needs none', async () => {
    const exact = await agent(world, 'exact', 'propose');
    world.charon.requireGrant(exact, demo, false);
    world.charon.requireGrant(exact, demo, true);
    for (const other of ['Demo', 'demo2', 'dem']) {
      expect(await codeOf(() => world.charon.requireGrant(exact, projectId(other), true)), other).toBe('GRANT_MISSING');
    }
    const star = await callerOf(world, await makePrincipal(world, 'star', 'write', '*'));
    world.charon.requireGrant(star, demo, true);
    expect(await codeOf(() => world.charon.requireGrant(star, demo, false))).toBe('GRANT_MISSING');
    world.charon.requireGrant(world.charon.ownerCaller('window'), projectId('anything'), false);
  });

  test('C4 the refusal says the same of every project', async () => {
    const caller = await agent(world, 'exact', 'propose');
    const messages = ['other', 'nowhere'].map((project) => {
      try {
        world.charon.requireGrant(caller, projectId(project), true);
      } catch (thrown) {
        return String(thrown);
      }
      return 'granted';
    });
    expect(messages[0]).toContain('no grant');
    expect(messages[1]).toBe(messages[0]);
  });

  test('C5 rights are those of the call: grants, profile and enabling change the next one', async () => {
    const { charon } = world;
    const principal = await makePrincipal(world, 'agent', 'propose');
    const { token } = await charon.mintObol({ principalId: principal.principal_id, expiresMs: null });
    expect(charon.authenticate(token, 'agent')?.principal.grants).toEqual(['demo']);
    await charon.revokeGrant(principal.principal_id, demo);
    expect(charon.authenticate(token, 'agent')?.principal.grants).toEqual([]);
    await charon.reconcilePrincipal({ name: 'agent', profile: 'readonly', grant: demo });
    expect(charon.authenticate(token, 'agent')?.scopes).toEqual(scopesOf('readonly'));
    await charon.setPrincipalEnabled(principal.principal_id, false);
    expect(charon.authenticate(token, 'agent')).toBeUndefined();
    await charon.setPrincipalEnabled(principal.principal_id, true);
    expect(charon.authenticate(token, 'agent')?.principal.principal_id).toBe(principal.principal_id);
  });
});

describe('identities', () => {
  test('C6 actor ids are unique whatever their case, never change and are never used again', async () => {
    const { charon } = world;
    const reconcile = (name: string, actorId: string) =>
      charon.reconcilePrincipal({ name, profile: 'propose', grant: demo, actorId });
    const { principal } = await reconcile('a', 'Alice.1');
    expect(principal.actor_id).toBe('Alice.1');
    expect(await codeOf(reconcile('b', 'alice.1'))).toBe('PRINCIPAL_EXISTS');
    expect(await codeOf(reconcile('a', 'other'))).toBe('PRINCIPAL_EXISTS');
    await charon.setPrincipalEnabled(principal.principal_id, false);
    expect(await codeOf(reconcile('c', 'ALICE.1'))).toBe('PRINCIPAL_EXISTS');
    expect(charon.listPrincipals().map((each) => each.name)).toEqual(['Owner', 'a']);
  });

  test('C6 an actor id is one path component, not a name of the store, not shaped like a principal', async () => {
    const refused = [
      '',
      '.',
      '..',
      'a/b',
      'a b',
      'ü',
      'x'.repeat(129),
      'system',
      'System',
      'principal_0123456789abcdef',
    ];
    for (const actorId of refused) {
      const work = world.charon.reconcilePrincipal({ name: 'n', profile: 'propose', grant: demo, actorId });
      expect(await codeOf(work), actorId).toBe('INPUT_INVALID');
    }
    const plain = await makePrincipal(world, 'plain', 'propose');
    expect(plain.actor_id).toBe(plain.principal_id);
    expect(plain.principal_id).toMatch(/^principal_[0-9a-f]{16}$/);
  });

  test('C7 reconcile finds by exact name or creates, sets the profile, adds the grant and takes none away', async () => {
    const { charon } = world;
    const first = await charon.reconcilePrincipal({ name: 'Agent', profile: 'propose', grant: demo });
    expect(first.created).toBe(true);
    const again = await charon.reconcilePrincipal({ name: 'Agent', profile: 'review', grant: projectId('two') });
    expect(again).toMatchObject({
      created: false,
      principal: { principal_id: first.principal.principal_id, profile: 'review', grants: ['demo', 'two'] },
    });
    const other = await charon.reconcilePrincipal({ name: 'agent', profile: 'propose', grant: demo });
    expect(other.created).toBe(true);
    const same = await charon.reconcilePrincipal({ name: 'agent', profile: 'propose', grant: demo });
    expect(same.principal).toEqual(other.principal);
    expect(world.events.filter((event) => event.kind === 'principal_changed')).toHaveLength(4);
  });

  test('C7 the owner’s profile and the owner’s name are refused, and nothing is made', async () => {
    const { charon } = world;
    for (const [name, profile] of [
      ['x', 'owner'],
      ['Owner', 'write'],
    ] as const) {
      expect(await codeOf(charon.reconcilePrincipal({ name, profile, grant: demo }))).toBe('OWNER_ONLY');
    }
    expect(charon.listPrincipals()).toHaveLength(1);
    expect(await codeOf(charon.revokeGrant(charon.owner().principal_id, grantSchema.parse('*')))).toBe(
      'nothing was refused',
    );
    for (const name of ['', 'x'.repeat(129), '\ud800']) {
      expect(await codeOf(charon.reconcilePrincipal({ name, profile: 'propose', grant: demo }))).toBe('INPUT_INVALID');
    }
  });
});

describe('refs', () => {
  test('C8 agents and sessions belong to the actor, all other refs to their creator, memory.write reaches every one', async () => {
    const { charon } = world;
    const mine = await agent(world, 'mine', 'propose');
    const writer = await agent(world, 'writer', 'write');
    const me = mine.principal;
    const other = writer.principal.principal_id;
    const own = (name: string, createdBy?: string) =>
      codeOf(() => charon.requireOwnedRef(mine, refName(name), createdBy));
    expect(charon.ownedPrefixes(me)).toEqual([`refs/agents/${me.actor_id}/`, `refs/sessions/${me.actor_id}/`]);
    expect(await own(`refs/agents/${me.actor_id}/work`, other)).toBe('nothing was refused');
    expect(await own(`refs/sessions/${me.actor_id}/s1`)).toBe('nothing was refused');
    expect(await own(`refs/agents/${me.actor_id.toUpperCase()}/work`, me.principal_id)).toBe('NOT_REF_OWNER');
    expect(await own('refs/agents/someone/work', me.principal_id)).toBe('NOT_REF_OWNER');
    expect(await own(`refs/agents/${me.actor_id}x/work`)).toBe('NOT_REF_OWNER');
    expect(await own('refs/topics/t', me.principal_id)).toBe('nothing was refused');
    expect(await own('refs/topics/t', other)).toBe('NOT_REF_OWNER');
    expect(await own('refs/topics/t')).toBe('NOT_REF_OWNER');
    expect(await own('refs/repos/r/main', other)).toBe('NOT_REF_OWNER');
    charon.requireOwnedRef(writer, refName(`refs/agents/${me.actor_id}/work`), me.principal_id);
  });

  test('C9 a protected ref takes neither commits nor branches, whoever asks', async () => {
    const { charon } = world;
    const callers = [
      await agent(world, 'p', 'propose'),
      await agent(world, 'w', 'write'),
      charon.ownerCaller('window'),
    ];
    for (const caller of callers) {
      for (const name of ['refs/shared/main', 'refs/shared/x/y']) {
        const id = caller.principal.principal_id;
        expect(await codeOf(() => charon.requireOwnedRef(caller, refName(name), id))).toBe('PROTECTED_REF');
        expect(await codeOf(() => charon.requireCreatableRef(caller, refName(name)))).toBe('PROTECTED_REF');
      }
    }
  });

  test('C10 a ref can be made below the own prefixes, under topics and under repos, and nowhere else', async () => {
    const { charon } = world;
    const mine = await agent(world, 'mine', 'propose');
    const actor = mine.principal.actor_id;
    const create = (name: string) => codeOf(() => charon.requireCreatableRef(mine, refName(name)));
    for (const name of [`refs/agents/${actor}/a`, `refs/sessions/${actor}/a/b`, 'refs/topics/t', 'refs/repos/r/main']) {
      expect(await create(name), name).toBe('nothing was refused');
    }
    for (const name of ['refs/agents/other/a', 'refs/sessions/other/a'])
      expect(await create(name), name).toBe('NOT_REF_OWNER');
    for (const name of ['refs/heads/main', `refs/agents/${actor}`, 'refs/repos/r', 'refs/Shared/main']) {
      expect(await create(name), name).toBe('REF_NAME_INVALID');
    }
  });
});

describe('settings', () => {
  test('C17 self-merge is on from the start, can be turned off, and counts as off without the ledger’s MAC', async () => {
    expect(world.charon.ownerSelfMerge()).toBe(true);
    await world.charon.setOwnerSelfMerge(false);
    world = await world.reopen();
    expect(world.charon.ownerSelfMerge()).toBe(false);
    world.withDb((db) => db.exec("UPDATE settings SET value = 'on'"));
    expect(world.charon.ownerSelfMerge()).toBe(false);
    await world.charon.setOwnerSelfMerge(true);
    expect(world.charon.ownerSelfMerge()).toBe(true);
    world.withDb((db) => db.exec('DELETE FROM settings'));
    expect(world.charon.ownerSelfMerge()).toBe(false);
  });

  test('C7 a principal that nobody made is not found, by whatever verb', async () => {
    const { charon } = world;
    const id = principalIdSchema.parse('principal_00000000000000ff');
    expect(charon.findPrincipal(id)).toBeUndefined();
    expect(await codeOf(() => charon.getPrincipal(id))).toBe('PRINCIPAL_NOT_FOUND');
    expect(await codeOf(charon.setPrincipalEnabled(id, true))).toBe('PRINCIPAL_NOT_FOUND');
    expect(await codeOf(charon.revokeGrant(id, demo))).toBe('PRINCIPAL_NOT_FOUND');
    expect(await codeOf(charon.mintObol({ principalId: id, expiresMs: null }))).toBe('PRINCIPAL_NOT_FOUND');
  });
});
