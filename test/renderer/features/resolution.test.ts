import { describe, expect, test } from 'vitest';
import type { Resolution } from '../../../src-preload/contract/conflict.ts';
import { digestSchema, timestampSchema } from '../../../src-preload/contract/ids.ts';
import { followEngine, inputOf, openSheet, type Sheet, stateOf } from '../../../src-renderer/features/inbox/draft.ts';

const key = 'd'.repeat(64);
const otherKey = 'e'.repeat(64);
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

function kept(second: number, rest: Partial<Resolution> = {}): Resolution {
  const at = timestampSchema.parse(`2026-01-10T12:00:0${second}Z`);
  return { conflict_key: parse(key), conflict_id: parse(key), choice: 'edit', drafted_at: at, ops: [], ...rest };
}
const parse = (text: string): Resolution['conflict_key'] => digestSchema.parse(text);
const follow = (
  sheet: Sheet,
  resolution: Resolution | undefined,
  more: { idle?: boolean; conflictKey?: string } = {},
) => followEngine(sheet, { conflictKey: key, kept: resolution, idle: true, ...more });

describe('a draft on screen and what the engine keeps', () => {
  test('what another window kept is taken over, and so is that it took it back', () => {
    const sheet = openSheet(key, kept(1, { content: 'mine' }));
    const taken = follow(sheet, kept(2, { content: 'theirs' }));
    expect(taken.draft.content).toBe('theirs');
    expect(follow(taken, undefined).draft.choice).toBeUndefined();
  });

  test('while something of this window is not kept, it is not taken over', () => {
    const sheet = { ...openSheet(key, kept(1)), draft: { ...draft, choice: 'edit' as const, content: 'typed' } };
    expect(follow({ ...sheet, dirty: true }, kept(2, { content: 'theirs' })).draft.content).toBe('typed');
    expect(follow(sheet, kept(2, { content: 'theirs' }), { idle: false }).draft.content).toBe('typed');
  });

  test('an answer that is older than what was seen, or says the same, changes no text', () => {
    const sheet = {
      ...openSheet(key, kept(2)),
      draft: { ...draft, choice: 'edit' as const, content: 'typed', note: 'a ' },
    };
    expect(follow(sheet, kept(1, { content: 'old' })).draft.content).toBe('typed');
    expect(follow(sheet, kept(3, { content: 'typed', note: 'a' })).draft.note).toBe('a ');
    expect(follow(sheet, kept(2))).toBe(sheet);
  });

  test('when the sides say something else, what was typed stays and counts for nothing until it is kept', () => {
    const sheet = { ...openSheet(key, kept(1, { content: 'typed' })), dirty: true };
    const moved = follow(sheet, undefined, { conflictKey: otherKey });
    expect(moved.draft.content).toBe('typed');
    expect(stateOf(moved, { conflictKey: otherKey, busy: false, refused: false })).toBe('moved');
    expect(follow(openSheet(key, undefined), undefined, { conflictKey: otherKey }).subject).toBe(otherKey);
    const known = follow({ ...sheet, dirty: false }, kept(2, { content: 'known' }), { conflictKey: otherKey });
    expect(known).toMatchObject({ subject: otherKey, draft: { content: 'known' } });
  });
});

test('a draft that was refused says so, whatever else holds', () => {
  const sheet = openSheet(key, kept(1, { content: 'x' }));
  const now = { conflictKey: key, busy: false, refused: false };
  expect(stateOf(sheet, now)).toBe('saved');
  expect(stateOf(sheet, { ...now, busy: true })).toBe('saving');
  expect(stateOf(sheet, { ...now, refused: true })).toBe('refused');
  expect(stateOf(openSheet(key, undefined), { ...now, refused: true })).toBe('refused');
  expect(stateOf(openSheet(key, kept(1)), now)).toBe('unfinished');
});
