import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatRoute, parseRoute, type Route } from '../../../src-renderer/ui/routes.ts';

const id = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).filter((text) => text.isWellFormed());
const moment = fc.oneof(
  fc.constant({ kind: 'now' as const }),
  id.map((value) => ({ kind: 'changeset' as const, id: value })),
  id.map((value) => ({ kind: 'time' as const, at: value })),
);
const route: fc.Arbitrary<Route> = fc.oneof(
  fc.record({ screen: fc.constant('inbox' as const), proposalId: fc.option(id, { nil: undefined }) }),
  fc.record({ screen: fc.constant('memory' as const), memoryId: fc.option(id, { nil: undefined }), moment }),
  fc.record({ screen: fc.constant('history' as const), changesetId: fc.option(id, { nil: undefined }) }),
  fc.record({ screen: fc.constant('compare' as const), base: id, target: id }),
  fc.record({
    screen: fc.constantFrom('branches' as const, 'conflicts' as const, 'audit' as const, 'settings' as const),
  }),
  id.chain((agentId) =>
    fc.record({
      screen: fc.constant('ledger' as const),
      agentId: fc.constant(agentId),
      keyName: fc.option(id, { nil: undefined }),
    }),
  ),
  fc.record({ screen: fc.constant('backups' as const), name: fc.option(id, { nil: undefined }) }),
  fc.record({ screen: fc.constant('agents' as const), principalId: fc.option(id, { nil: undefined }) }),
);

describe('addresses', () => {
  test('every place has an address that leads back to it, whatever its ids hold', () => {
    fc.assert(
      fc.property(route, (place) => {
        expect(parseRoute(formatRoute(place))).toEqual(place);
      }),
    );
  });

  test('they look as people expect', () => {
    expect(formatRoute({ screen: 'inbox' })).toBe('#/inbox');
    expect(formatRoute({ screen: 'compare', base: 'a', target: 'b' })).toBe('#/compare/a/b');
    expect(formatRoute({ screen: 'memory', memoryId: 'mem:1/2', moment: { kind: 'changeset', id: 'c1' } })).toBe(
      '#/memory/mem%3A1%2F2?head=c1',
    );
  });

  test('what is no address of the desk is the inbox', () => {
    for (const hash of ['', '#', '#/', '#/nowhere/else', '#/compare/only-one', '#%']) {
      expect(parseRoute(hash)).toEqual({ screen: 'inbox', proposalId: undefined });
    }
  });

  test('a damaged escape is taken as it stands', () => {
    expect(parseRoute('#/inbox/%E0%A4%A')).toEqual({ screen: 'inbox', proposalId: '%E0%A4%A' });
  });

  test('a place from outside the desk is read the same way', () => {
    expect(parseRoute('/inbox/p1')).toEqual({ screen: 'inbox', proposalId: 'p1' });
  });
});
