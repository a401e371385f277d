import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openLedgerDoor } from './ledger-door.ts';

const methods = ['GET', 'PUT', 'POST', 'DELETE', 'PATCH', 'OPTIONS'];
const places = [
  ...['memory', 'memory/', 'memory/k', 'memory/stats', 'memory/context', 'memory/search', 'me', 'keys/rotate'],
  ...['register', 'register/x', 'auth/passport/challenge', 'auth/passport/verify', 'agents/x/passport'],
  ...['me/consolidation-policy', 'me/consolidation-policy/amend', 'agents/x/consolidation-policy', 'capabilities'],
];
const segment = fc.oneof(
  fc.constantFrom(...places),
  fc.string({ unit: 'binary', maxLength: 8 }).map((text) => `memory/${encodeURIComponent(text.toWellFormed())}`),
  fc.stringMatching(/^[!-~]{0,12}$/).map((text) => `memory/${text.replaceAll('#', '')}`),
);
const query = fc.oneof(
  fc.constant(''),
  fc
    .dictionary(
      fc.constantFrom('q', 'limit', 'page', 'per_page', 'importance', 'threshold', 'prefix', 'x'),
      fc.string({ maxLength: 6 }),
    )
    .map((fields) => `?${new URLSearchParams(fields)}`),
);
const field = fc.constantFrom(
  'value',
  'ttl',
  'importance',
  'source',
  'confidence',
  'derived_from',
  'agent_id',
  'params',
  'template_id',
  '__proto__',
);
const body = fc.oneof(
  fc.constant(undefined),
  fc.string({ maxLength: 20 }),
  fc.json({ maxDepth: 3 }),
  fc
    .array(fc.tuple(field, fc.json({ maxDepth: 2 })), { maxLength: 4 })
    .map((fields) => `{${fields.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`),
);

test('T135 whatever is sent is answered in the form of this door, and never by a fault of our own', async () => {
  const door = await openLedgerDoor();
  const { token } = await door.agent('any');
  const request = fc.tuple(fc.constantFrom(...methods), segment, query, body, fc.boolean());
  await fc.assert(
    fc.asyncProperty(request, async ([method, place, asked, sent, known]) => {
      door.clock.advance(1_000);
      const path = `/v1/${place}${asked}`;
      const { status, value, headers } = await door.ask(known ? token : '', method, path, sent);
      expect(headers['content-type']).toMatch(/^application\/json/);
      if (status < 300) expect(['success', 'pending']).toContain(value.status);
      else
        expect(value).toMatchObject({ status: 'error', error_code: expect.any(String), message: expect.any(String) });
      expect([200, 202, 401, 403, 404, 405, 409, 413, 415, 422, 429, 400]).toContain(status);
      expect(value.error_code).not.toBe('INTERNAL');
    }),
    { numRuns: 400, seed: 5 },
  );
});
