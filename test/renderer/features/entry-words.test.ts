import { expect, test } from 'vitest';
import { auditEntrySchema } from '../../../src-preload/contract/audit.ts';
import { matchesEntry, toneOf } from '../../../src-renderer/features/audit/entry-words.ts';
import { ids, noon } from '../fixtures.ts';

const digest = '0'.repeat(64);
const entry = auditEntrySchema.parse({
  ...{ seq: 1, at: noon, prev_hash: digest, entry_hash: digest, mac: digest, mac_key_id: 'ledger-1' },
  ...{ principal: ids.agent, credential_kind: 'obol', credential_id: 'o1', door: 'agent', command: 'memory.merge' },
  ...{
    project: 'demo',
    object_ids: [ids.proposal],
    request_digest: '',
    phase: 'outcome',
    outcome: 'denied SELF_REVIEW',
  },
  correlation_id: 'c1',
});

test('an entry is found by every word that it shows, in any order', () => {
  expect(matchesEntry(entry, 'Scout', '')).toBe(true);
  expect(matchesEntry(entry, 'Scout', 'merge scout')).toBe(true);
  expect(matchesEntry(entry, 'Scout', 'agent door DEMO self_review')).toBe(true);
  expect(matchesEntry(entry, 'Scout', ids.proposal)).toBe(true);
  expect(matchesEntry(entry, 'Scout', 'merge archive')).toBe(false);
});

test('what was refused, what was done and what was only asked for look different', () => {
  expect(toneOf(entry)).toBe('removed');
  expect(toneOf({ phase: 'outcome', outcome: 'ok' })).toBe('added');
  expect(toneOf({ phase: 'intent', outcome: '' })).toBe('noted');
});
