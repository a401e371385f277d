import { describe, expect, test } from 'vitest';
import {
  addressesOf,
  decideGuard,
  type GuardedRequest,
  headerValues,
} from '../../src-main/transports/request-guard.ts';

const ours = addressesOf(['127.0.0.1', 'localhost'], 18_484);
const plain: GuardedRequest = {
  method: 'POST',
  hosts: ['127.0.0.1:18484'],
  origins: [],
  fetchSites: [],
  contentTypes: ['application/json'],
};
const decide = (changes: Partial<GuardedRequest>, originNeeded = false): string =>
  decideGuard({ ...plain, ...changes }, ours, originNeeded)?.code ?? 'served';

describe('the decision at the door', () => {
  test('T1 exactly one Host, and ours', () => {
    expect(decide({})).toBe('served');
    for (const hosts of [[], ['127.0.0.1:18484', '127.0.0.1:18484'], ['127.0.0.1:18485'], ['127.0.0.1'], ['']]) {
      expect(decide({ hosts })).toBe('HOST_REFUSED');
    }
  });

  test('T2 at most one Origin, and ours', () => {
    expect(decide({ origins: ['http://localhost:18484'] })).toBe('served');
    for (const origins of [
      ['null'],
      [''],
      ['http://localhost:18484', 'http://localhost:18484'],
      ['https://localhost:18484'],
    ]) {
      expect(decide({ origins })).toBe('ORIGIN_REFUSED');
    }
  });

  test('T44 where an Origin is needed, only GET goes without', () => {
    expect(decide({ method: 'GET' }, true)).toBe('served');
    for (const method of ['POST', 'DELETE', 'PUT', 'OPTIONS', 'HEAD'])
      expect(decide({ method }, true)).toBe('ORIGIN_REFUSED');
    expect(decide({ origins: ['http://127.0.0.1:18484'] }, true)).toBe('served');
  });

  test('T3 nothing that a browser marks as another site, in any number', () => {
    expect(decide({ fetchSites: ['same-origin'] })).toBe('served');
    expect(decide({ fetchSites: ['none', 'cross-site'] })).toBe('ORIGIN_REFUSED');
    expect(decide({ fetchSites: [''] })).toBe('ORIGIN_REFUSED');
  });

  test('T5 a POST is JSON, said once', () => {
    expect(decide({ contentTypes: ['application/json;charset=utf-8'] })).toBe('served');
    expect(decide({ method: 'GET', contentTypes: [] })).toBe('served');
    for (const contentTypes of [
      [],
      ['text/plain'],
      ['application/json', 'text/plain'],
      ['application/json, text/plain'],
    ]) {
      expect(decide({ contentTypes })).toBe('CONTENT_TYPE_REFUSED');
    }
  });

  test('T1 every value of a header is seen, under every spelling of its name', () => {
    const raw = ['Host', 'a', 'HOST', 'b', 'Origin', 'host', 'X', 'c'];
    expect(headerValues(raw, 'host')).toEqual(['a', 'b']);
    expect(headerValues(raw, 'origin')).toEqual(['host']);
    expect(headerValues(raw, 'cookie')).toEqual([]);
  });
});
