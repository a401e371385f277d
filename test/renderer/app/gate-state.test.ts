import { expect, test } from 'vitest';
import { gateState } from '../../../src-renderer/app/gate-state.ts';

const nothing = { answered: false, refusal: undefined };

test('E15 an engine that said why it does not start is quoted, one that says nothing has stopped', () => {
  expect(gateState('stopped', { answered: false, refusal: 'KEYS_SEALED' })).toBe('refused');
  expect(gateState('stopped', { answered: false, refusal: 'HOME_LOCKED' })).toBe('refused');
  expect(gateState('stopped', { answered: false, refusal: 'CLOSED' })).toBe('stopped');
  expect(gateState('stopped', nothing)).toBe('stopped');
  expect(gateState('live', { answered: false, refusal: 'CLOSED' })).toBe('stopped');
});

test('E15 what was answered once stays open, and a page without a session says so first', () => {
  expect(gateState('stopped', { answered: true, refusal: 'CLOSED' })).toBe('open');
  expect(gateState('connecting', nothing)).toBe('loading');
  expect(gateState('reconnecting', nothing)).toBe('loading');
  expect(gateState('signed_out', { answered: true, refusal: undefined })).toBe('signed_out');
});
