import { expect, test } from 'vitest';
import { inputOf } from '../../../src-renderer/features/inbox/use-resolution.ts';

const key = 'd'.repeat(64);
const draft = { choice: undefined, note: '', content: '', scope: '' };

test('a draft is kept once everything that it needs is there', () => {
  expect(inputOf(key, draft)).toBeUndefined();
  expect(inputOf(key, { ...draft, choice: 'edit', content: '  ' })).toBeUndefined();
  expect(inputOf(key, { ...draft, choice: 'edit', content: 'both cats' })).toEqual({
    ...{ conflict_key: key, choice: 'edit', content: 'both cats' },
  });
});

test('only what its choice asks for is sent', () => {
  const full = { note: ' because ', content: 'text', scope: ' net ' };
  expect(inputOf(key, { ...full, choice: 'ours' })).toEqual({ conflict_key: key, choice: 'ours', note: 'because' });
  expect(inputOf(key, { ...full, choice: 'both' })).toEqual({
    ...{ conflict_key: key, choice: 'both', note: 'because', scope: 'net' },
  });
});
